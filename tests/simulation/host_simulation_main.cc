// host_simulation_test --seeds N [--first S]   runs many simulations of hosts
// host_simulation_test --seed S [--trace]      replays one
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/format.h"
#include "tests/simulation/host_simulation.h"

namespace {

using namespace relay::simulation;

std::uint64_t running_seed = 0;

/// A failed assertion inside the product still prints its seed.
void on_host_abort(int signal) {
  char text[96];
  const int length =
      std::snprintf(text, sizeof text, "\nseed %llu aborted; replay: host_simulation_test --seed %llu\n",
                    static_cast<unsigned long long>(running_seed), static_cast<unsigned long long>(running_seed));
  [[maybe_unused]] const auto ignored = ::write(2, text, static_cast<std::size_t>(length));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

HostOutcome run_seed(std::uint64_t seed, Trace::Mode mode) {
  running_seed = seed;
  auto outcome = HostSimulation{seed, mode}.run();
  if (outcome.violation)
    std::printf("seed %llu: %s\n  replay: host_simulation_test --seed %llu --trace\n",
                static_cast<unsigned long long>(seed), outcome.violation->c_str(),
                static_cast<unsigned long long>(seed));
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t first = 1, seeds = 100;
  std::optional<std::uint64_t> only;
  bool trace = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--trace") {
      trace = true;
      continue;
    }
    if (i + 1 >= argc || (name != "--seed" && name != "--seeds" && name != "--first")) {
      std::fprintf(stderr, "usage: host_simulation_test [--seeds N] [--first S] | --seed S [--trace]\n");
      return 2;
    }
    const auto number = std::strtoull(argv[++i], nullptr, 10);
    if (name == "--seed") only = number;
    (name == "--first" ? first : seeds) = number;
  }
  std::signal(SIGABRT, on_host_abort);
  std::signal(SIGSEGV, on_host_abort);
  if (only) {
    const auto outcome = run_seed(*only, trace ? Trace::Mode::Print : Trace::Mode::Hash);
    std::printf("seed %llu: %llu steps, %llu sent, %llu taken, trace %016llx\n", static_cast<unsigned long long>(*only),
                static_cast<unsigned long long>(outcome.steps), static_cast<unsigned long long>(outcome.sent),
                static_cast<unsigned long long>(outcome.hosts.prompts),
                static_cast<unsigned long long>(outcome.trace_hash));
    return outcome.violation ? 1 : 0;
  }
  HostOutcome sum;
  std::uint64_t failed = 0, done = 0;
  constexpr std::uint64_t kMaxFailures = 20;
  for (auto seed = first; seed < first + seeds && failed < kMaxFailures; ++seed, ++done) {
    const auto outcome = run_seed(seed, Trace::Mode::Off);
    if (outcome.violation) ++failed;
    sum.steps += outcome.steps;
    sum.sent += outcome.sent;
    sum.daemon_deaths += outcome.daemon_deaths;
    sum.hosts.add(outcome.hosts);
    for (std::size_t i = 0; i < sum.ends.size(); ++i) sum.ends[i] += outcome.ends[i];
  }
  const auto& hosts = sum.hosts;
  auto text = relay::format(
      "{} seeds: {} steps, {} messages, {} taken by agents ({} by inbox, {} fetched, {} sent by the user, {} as "
      "files), "
      "{} sent by agents, {} prompts answered by clients, {} keys met a dialog that was not drawn yet ({} answered "
      "it), "
      "{} deaths of hosts, {} of the daemon; {} seeds failed\ndeliveries:",
      done, sum.steps, sum.sent, hosts.prompts, hosts.by_inbox, hosts.fetched, hosts.sent_by_user, hosts.files,
      hosts.sent_by_agent, hosts.answered, hosts.met_dialog, hosts.answered_dialog, hosts.deaths, sum.daemon_deaths,
      failed);
  for (std::size_t i = 0; i < sum.ends.size(); ++i)
    text += relay::format(" {} {}", name_of(static_cast<relay::records::DeliveryState>(i)), sum.ends[i]);
  std::puts(text.c_str());
  return failed == 0 ? 0 : 1;
}
