/// relay_fairness_bench PROGRAM [--rounds N] [--messages N]: what one who floods costs two who talk quietly.
///
/// A quiet pair sends one message after the other; rounds without and with a flood alternate. The flood is another
/// process that sends as fast as it is let to, to an agent of its own.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "daemon_under_test.h"
#include "figures.h"
#include "measure.h"

namespace {

using namespace relay;
using namespace relay::bench;

/// Sends until it is killed.
class Flood {
 public:
  static Result<Flood> start(const DaemonUnderTest& daemon, int round) {
    auto sender = RELAY_TRY(daemon.join(format("Chatterbox{}", round)));
    auto receiver = RELAY_TRY(daemon.join("Bob"));
    const pid_t pid = ::fork();
    if (pid < 0) return fail("no process for the flood");
    if (pid == 0) {
      Figures ignored;
      while (measure_daemon(sender, receiver, {.sequential = 0, .streaming = 100'000}, ignored)) {}
      ::_exit(1);
    }
    return Flood{pid};
  }
  Flood(Flood&& other) noexcept : pid_{std::exchange(other.pid_, 0)} {}
  Flood& operator=(Flood&&) = delete;
  ~Flood() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  explicit Flood(pid_t pid) : pid_{pid} {}
  pid_t pid_;
};

Result<void> run(const std::string& program, std::size_t messages, int rounds) {
  const Storage storage{"SQLite power", "sqlite", "power"};
  const Load quietly{.sequential = messages, .streaming = 0, .body_bytes = 256, .to = "Dave"};
  Figures alone{.title = "the quiet pair alone"}, beside{.title = "beside a flood"};
  for (int round = 0; round < rounds; ++round) {
    std::printf("round %d of %d\n", round + 1, rounds);
    std::fflush(stdout);
    for (const bool flooded : {false, true}) {
      // Each its own daemon: what a flood leaves behind must not slow the pair that is measured alone.
      auto daemon = RELAY_TRY(DaemonUnderTest::start(program, storage));
      auto carol = RELAY_TRY(daemon.join("Carol"));
      auto dave = RELAY_TRY(daemon.join("Dave"));
      std::optional<Flood> flood;
      if (flooded) flood.emplace(RELAY_TRY(Flood::start(daemon, round)));
      RELAY_TRY(measure_daemon(carol, dave, quietly, flooded ? beside : alone));
    }
  }
  std::printf("\n%s\n%d rounds of %zu messages\n\n", machine().c_str(), rounds, messages);
  for (const auto* row : {&alone, &beside})
    std::printf("%-22s  durable p50 %8.0f us  p99 %8.0f us   delivered p50 %8.0f us  p99 %8.0f us\n",
                row->title.c_str(), quantile(row->durable_us, 0.5), quantile(row->durable_us, 0.99),
                quantile(row->deliver_us, 0.5), quantile(row->deliver_us, 0.99));
  std::printf("ratio of p99: durable %.2f, delivered %.2f\n",
              quantile(beside.durable_us, 0.99) / quantile(alone.durable_us, 0.99),
              quantile(beside.deliver_us, 0.99) / quantile(alone.deliver_us, 0.99));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 5;
  std::size_t messages = 400;
  std::string program;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--messages" && i + 1 < argc)
      messages = std::strtoul(argv[++i], nullptr, 10);
    else if (word == "--rounds" && i + 1 < argc)
      rounds = std::atoi(argv[++i]);
    else
      program = word;
  }
  if (program.empty() || messages == 0 || rounds < 1) {
    std::fputs("usage: relay_fairness_bench PROGRAM [--messages N] [--rounds N]\n", stderr);
    return 2;
  }
  if (const auto result = run(program, messages, rounds); !result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    return 1;
  }
  return 0;
}
