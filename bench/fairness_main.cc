/// relay_fairness_bench PROGRAM [--rounds N] [--messages N]: what one who floods costs two who talk quietly.
///
/// A quiet pair sends one message after the other; rounds without and with a flood alternate. The flood is another
/// process that sends as fast as it is let to, to an agent of its own.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figures.h"
#include "subjects/ours.h"
#include "work/exchange.h"

namespace {

using namespace relay;
using namespace relay::bench;

/// Two seats at a daemon, and who plays them.
struct Talk {
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  Driver driver;

  static Result<Talk> open(RunningDaemon& daemon, const std::string& from, const std::string& to) {
    const std::array seats{Seat{.name = from, .role = Role::Sender, .sends_to = to}, Seat{.name = to}};
    auto endpoints = RELAY_TRY(daemon.open(seats));
    auto driver = RELAY_TRY(Driver::over(endpoints));
    return Talk{std::move(endpoints), std::move(driver)};
  }
};

/// Sends until it is killed.
class Flood {
 public:
  static Result<Flood> start(RunningDaemon& daemon) {
    auto talk = RELAY_TRY(Talk::open(daemon, "Chatterbox", "Bob"));
    auto process = RELAY_TRY(ServerProcess::in_new_place());
    RELAY_TRY(process.start([&] {
      const Flow flow{.senders = {{.endpoint = 0, .to = "Bob"}}, .confirmed = true, .window = 4'096};
      (void)stream(talk.driver, flow, std::string(1'024, 'x'), {});
    }));
    return Flood{std::move(process)};
  }

 private:
  explicit Flood(ServerProcess process) : process_{std::move(process)} {}
  ServerProcess process_;
};

Result<void> run(const std::string& program, std::size_t messages, int rounds) {
  const std::string body(256, 'x');
  Latencies alone, beside;
  for (int round = 0; round < rounds; ++round) {
    std::printf("round %d of %d\n", round + 1, rounds);
    std::fflush(stdout);
    for (const bool flooded : {false, true}) {
      // Each its own daemon: what a flood leaves behind must not slow the pair that is measured alone.
      const auto daemon = RELAY_TRY(start_ours(program, {}));
      auto quiet = RELAY_TRY(Talk::open(*daemon, "Carol", "Dave"));
      std::optional<Flood> flood;
      if (flooded) flood.emplace(RELAY_TRY(Flood::start(*daemon)));
      const auto seen =
          RELAY_TRY(one_by_one(quiet.driver, {.endpoint = 0, .to = "Dave"}, body, true, {.messages = messages}));
      auto& sum = flooded ? beside : alone;
      sum.deliver_us.insert(sum.deliver_us.end(), seen.deliver_us.begin(), seen.deliver_us.end());
      sum.confirm_us.insert(sum.confirm_us.end(), seen.confirm_us.begin(), seen.confirm_us.end());
    }
  }
  std::printf("\n%s\n%d rounds of %zu messages\n\n", machine().c_str(), rounds, messages);
  for (const auto& [title, row] : {std::pair{"the quiet pair alone", &alone}, {"beside a flood", &beside}})
    std::printf("%-22s  durable p50 %8.0f us  p99 %8.0f us   delivered p50 %8.0f us  p99 %8.0f us\n", title,
                quantile(row->confirm_us, 0.5), quantile(row->confirm_us, 0.99), quantile(row->deliver_us, 0.5),
                quantile(row->deliver_us, 0.99));
  std::printf("ratio of p99: durable %.2f, delivered %.2f\n",
              quantile(beside.confirm_us, 0.99) / quantile(alone.confirm_us, 0.99),
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
