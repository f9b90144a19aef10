// simulation_test --seeds N [--first S] [--size K] [--store memory|sqlite]   runs many simulations
// simulation_test --seed S [--trace]                                        replays one
// --damage: all of them on the durable store, whose disk damages files
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/simulation/simulation.h"

namespace {

using namespace relay::simulation;

std::uint64_t current_seed = 0;

/// A failed assertion inside the product still prints its seed.
void on_abort(int signal) {
  char text[96];
  const int length =
      std::snprintf(text, sizeof text, "\nseed %llu aborted; replay: simulation_test --seed %llu --trace\n",
                    static_cast<unsigned long long>(current_seed), static_cast<unsigned long long>(current_seed));
  [[maybe_unused]] const auto ignored = ::write(2, text, static_cast<std::size_t>(length));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Flags {
  std::uint64_t first = 1, seeds = 200, size = 1;
  std::optional<std::uint64_t> only;
  std::optional<StoreKind> store;
  bool trace = false, damage = false;
};

std::optional<Flags> parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--trace" || name == "--damage") {
      (name == "--trace" ? flags.trace : flags.damage) = true;
      continue;
    }
    if (i + 1 >= argc) return std::nullopt;
    const std::string_view text = argv[++i];
    const auto number = std::strtoull(argv[i], nullptr, 10);
    if (name == "--seed")
      flags.only = number;
    else if (name == "--seeds")
      flags.seeds = number;
    else if (name == "--first")
      flags.first = number;
    else if (name == "--size")
      flags.size = number;
    else if (name == "--store" && text == "memory")
      flags.store = StoreKind::Memory;
    else if (name == "--store" && text == "sqlite")
      flags.store = StoreKind::Sqlite;
    else
      return std::nullopt;
  }
  return flags;
}

Outcome run(std::uint64_t seed, const Flags& flags, Trace::Mode mode) {
  current_seed = seed;
  Simulation simulation{
      {.seed = seed, .trace = mode, .size = flags.size, .store = flags.store, .damage = flags.damage}};
  return simulation.run();
}

bool report(std::uint64_t seed, const Outcome& outcome) {
  if (!outcome.violation) return true;
  std::printf("seed %llu: %s\n  replay: simulation_test --seed %llu --trace\n", static_cast<unsigned long long>(seed),
              outcome.violation->c_str(), static_cast<unsigned long long>(seed));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const auto flags = parse(argc, argv);
  if (!flags) {
    std::fprintf(stderr,
                 "usage: simulation_test [--seeds N] [--first S] [--size K] [--store memory|sqlite] [--damage]\n"
                 "       simulation_test --seed S [--trace] [--size K] [--store memory|sqlite] [--damage]\n");
    return 2;
  }
  std::signal(SIGABRT, on_abort);
  std::signal(SIGSEGV, on_abort);
  if (flags->only) {
    const auto outcome = run(*flags->only, *flags, flags->trace ? Trace::Mode::Print : Trace::Mode::Hash);
    std::printf("seed %llu: %llu steps, %llu sent, %llu acknowledged, %llu received, trace %016llx\n",
                static_cast<unsigned long long>(*flags->only), static_cast<unsigned long long>(outcome.steps),
                static_cast<unsigned long long>(outcome.sent), static_cast<unsigned long long>(outcome.acknowledged),
                static_cast<unsigned long long>(outcome.on_received),
                static_cast<unsigned long long>(outcome.trace_hash));
    return report(*flags->only, outcome) ? 0 : 1;
  }
  Outcome sum;
  std::uint64_t failed = 0;
  constexpr std::uint64_t kMostFailures = 20;
  for (std::uint64_t seed = flags->first; seed < flags->first + flags->seeds && failed < kMostFailures; ++seed) {
    const auto outcome = run(seed, *flags, Trace::Mode::Off);
    if (!report(seed, outcome)) ++failed;
    sum.steps += outcome.steps;
    sum.sent += outcome.sent;
    sum.acknowledged += outcome.acknowledged;
    sum.on_received += outcome.on_received;
    sum.daemon_deaths += outcome.daemon_deaths;
    sum.client_deaths += outcome.client_deaths;
    sum.surfaced += outcome.surfaced;
    sum.checks += outcome.checks;
    for (std::size_t i = 0; i < sum.ends.size(); ++i) sum.ends[i] += outcome.ends[i];
    sum.damages += outcome.damages;
    sum.lost += outcome.lost;
  }
  std::printf(
      "%llu seeds: %llu steps, %llu messages sent, %llu acknowledged, %llu received, %llu deaths of the daemon, "
      "%llu of programs; %llu seeds failed\n",
      static_cast<unsigned long long>(flags->seeds), static_cast<unsigned long long>(sum.steps),
      static_cast<unsigned long long>(sum.sent), static_cast<unsigned long long>(sum.acknowledged),
      static_cast<unsigned long long>(sum.on_received), static_cast<unsigned long long>(sum.daemon_deaths),
      static_cast<unsigned long long>(sum.client_deaths), static_cast<unsigned long long>(failed));
  std::printf("%llu injected, %llu liveness checks; deliveries:", static_cast<unsigned long long>(sum.surfaced),
              static_cast<unsigned long long>(sum.checks));
  for (std::size_t i = 0; i < sum.ends.size(); ++i)
    std::printf(" %s %llu", std::string{name_of(static_cast<relay::records::DeliveryState>(i))}.c_str(),
                static_cast<unsigned long long>(sum.ends[i]));
  std::printf("\n%llu damages of files, %llu messages lost by them and counted\n",
              static_cast<unsigned long long>(sum.damages), static_cast<unsigned long long>(sum.lost));
  return failed == 0 ? 0 : 1;
}
