/// relay_feed_bench [--readers 1000] [--wandering 100] [--slow 10] [--rate 1000] [--seconds 60]
///                  [--port N --pid N --socket PATH [--path /api/v1/events/sse]]
///
/// Readers of server-sent events by the thousand: what they miss, and what it costs the process that tells them. Without a
/// port it runs a server of its own; with one, a daemon's, whose process is measured, and a session tells the events at the
/// workspace's socket.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "feed/readers.h"
#include "feed/teller.h"
#include "feed/ticking_server.h"
#include "figures.h"

namespace {

using namespace relay;
using namespace relay::bench;

struct Cost {
  double cpu_seconds = 0;
  double resident_megabytes = 0;
};

Cost cost_of(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{stat}, {}};
  Cost cost;
  unsigned long user = 0, system = 0;
  long pages = 0;
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return cost;
  std::sscanf(text.c_str() + after_name + 2,
              "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %*u %*u %ld", &user, &system,
              &pages);
  cost.cpu_seconds = static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  cost.resident_megabytes = static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
  return cost;
}

struct Options {
  ReaderPlan plan = {.steady = 1'000, .wandering = 100, .slow = 10};
  int rate = 1'000, seconds = 60, port = 0, pid = 0;
  std::string socket = {};
  std::string path = "/api/v1/events/sse";
};

Result<Options> options_in(int count, char** words) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = words[i];
    const auto number = std::strtoul(words[i + 1], nullptr, 10);
    if (name == "--readers")
      options.plan.steady = number;
    else if (name == "--wandering")
      options.plan.wandering = number;
    else if (name == "--slow")
      options.plan.slow = number;
    else if (name == "--rate")
      options.rate = static_cast<int>(number);
    else if (name == "--seconds")
      options.seconds = static_cast<int>(number);
    else if (name == "--port")
      options.port = static_cast<int>(number);
    else if (name == "--pid")
      options.pid = static_cast<int>(number);
    else if (name == "--path")
      options.path = words[i + 1];
    else if (name == "--socket")
      options.socket = words[i + 1];
    else
      return fail("unknown option " + name);
  }
  return options;
}

Result<void> run(const Options& options) {
  TickingServer server{.pid = options.pid, .port = static_cast<std::uint16_t>(options.port)};
  if (options.port == 0) server = RELAY_TRY(TickingServer::start(options.rate));
  Readers readers{server.port, options.path, options.plan};
  RELAY_TRY(readers.connect_all());
  Teller teller;
  if (!options.socket.empty()) teller = RELAY_TRY(Teller::start(options.socket, options.rate));
  std::printf("%s\n%zu readers, %zu that come and go, %zu slow ones\n", machine().c_str(), options.plan.steady,
              options.plan.wandering, options.plan.slow);
  std::printf("%6s %12s %8s %8s %9s %8s %8s %8s %7s %8s\n", "second", "heard/s", "lost", "twice", "returns", "resumed",
              "cut", "behind", "CPU %", "RSS MB");
  constexpr int kStep = 5;
  for (int second = kStep; second <= options.seconds; second += kStep) {
    const auto before = readers.counts();
    const auto cost_before = cost_of(server.pid);
    readers.run(kStep);
    const auto counts = readers.counts();
    const auto cost = cost_of(server.pid);
    std::printf("%6d %12.0f %8lu %8lu %9lu %8lu %8lu %8lu %7.1f %8.1f\n", second,
                static_cast<double>(counts.events - before.events) / kStep, counts.lost, counts.repeated,
                counts.returns, counts.resumed, counts.cut, counts.behind,
                (cost.cpu_seconds - cost_before.cpu_seconds) / kStep * 100, cost.resident_megabytes);
    std::fflush(stdout);
  }
  readers.hurry();
  const auto last = readers.newest();
  for (int i = 0; i < 300 && !readers.all_heard(last); ++i) readers.run(0.1);
  const auto counts = readers.counts();
  std::printf("slow readers that were told where to resume: %lu; lost in all: %lu, twice: %lu\n", counts.resumed,
              counts.lost, counts.repeated);
  std::printf("%s\n", readers.all_heard(last) ? "every reader, also the slow ones, heard every number up to the last"
                                              : "somebody is still behind");
  if (teller.pid != 0) teller.stop();
  if (options.port == 0) server.stop();
  return {};
}

}  // namespace

int main(int count, char** words) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto options = options_in(count, words);
  const auto done = options ? run(*options) : Result<void>{std::unexpected{options.error()}};
  if (!done) std::fprintf(stderr, "relay_feed_bench: %s\n", done.error().message().c_str());
  return done ? 0 : 1;
}
