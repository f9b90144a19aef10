// host_simulation_test --seeds N [--first S]   runs many simulations of hosts
// host_simulation_test --seed S [--trace]      replays one
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

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
    sum.hosts.prompts += outcome.hosts.prompts;
    sum.hosts.by_inbox += outcome.hosts.by_inbox;
    sum.hosts.sent_by_user += outcome.hosts.sent_by_user;
    sum.hosts.met_dialog += outcome.hosts.met_dialog;
    sum.hosts.answered_dialog += outcome.hosts.answered_dialog;
    sum.hosts.deaths += outcome.hosts.deaths;
    for (std::size_t i = 0; i < sum.ends.size(); ++i) sum.ends[i] += outcome.ends[i];
  }
  std::printf(
      "%llu seeds: %llu steps, %llu messages, %llu taken by agents (%llu by inbox, %llu sent by the user), %llu keys "
      "met "
      "a dialog that was not drawn yet (%llu answered it), %llu deaths of hosts, %llu of the daemon; %llu seeds "
      "failed\ndeliveries:",
      static_cast<unsigned long long>(done), static_cast<unsigned long long>(sum.steps),
      static_cast<unsigned long long>(sum.sent), static_cast<unsigned long long>(sum.hosts.prompts),
      static_cast<unsigned long long>(sum.hosts.by_inbox), static_cast<unsigned long long>(sum.hosts.sent_by_user),
      static_cast<unsigned long long>(sum.hosts.met_dialog), static_cast<unsigned long long>(sum.hosts.answered_dialog),
      static_cast<unsigned long long>(sum.hosts.deaths), static_cast<unsigned long long>(sum.daemon_deaths),
      static_cast<unsigned long long>(failed));
  for (std::size_t i = 0; i < sum.ends.size(); ++i)
    std::printf(" %s %llu", std::string{name_of(static_cast<relay::records::DeliveryState>(i))}.c_str(),
                static_cast<unsigned long long>(sum.ends[i]));
  std::printf("\n");
  return failed == 0 ? 0 : 1;
}
