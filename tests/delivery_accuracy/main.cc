/// verdict_test: see README.md.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/format.h"
#include "base/json.h"
#include "crash/arguments.h"
#include "driver.h"

namespace {

using namespace relay;
using verdicts::Outcome;
using verdicts::Verdict;

constexpr const char* kUsage =
    "usage: verdict_test --program PATH --agent PATH --profile PATH [--messages N] [--agents N] [--senders N]\n"
    "                    [--kills-per-minute N] [--seed N] [--durability power|process] [--json] [--keep]\n"
    "RELAY_BIN in the environment goes before --program.\n";

void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string as_text(const Outcome& outcome, std::uint64_t seed) {
  const auto& [matrix, kills] = std::tie(outcome.matrix, outcome.kills);
  std::string text = "\n" + matrix.table() + "\n";
  for (const auto& [reason, count] : outcome.doubts) text += relay::format("in doubt, {}: {}\n", reason, count);
  for (const auto& example : outcome.examples) text += relay::format("  {}\n", example);
  text += relay::format("{} kills: {} of hosts, {} of agents, {} of the daemon; {:.0f} s, {:.1f} deliveries a second\n",
                        kills.all(), kills.host, kills.agent, kills.daemon, outcome.seconds,
                        static_cast<double>(matrix.all()) / outcome.seconds);
  text +=
      relay::format("{} in doubt ({:.2f} %, at most {} may be: one for each host or agent killed), {} of them given\n",
                    matrix.in_doubt(), share(matrix.in_doubt(), matrix.all()), outcome.doubts_allowed(),
                    matrix.count(Verdict::InDoubt, 1));
  text += relay::format(
      "{} falsely delivered, {} lost ({} of them ended undelivered, which nothing here allows), {} given twice, {} "
      "given and denied, {} torn, {} out of order, {} stored twice: "
      "{} "
      "(seed {})\n",
      matrix.false_delivered(), matrix.lost(), matrix.undelivered() - matrix.excused(), matrix.doubled(),
      matrix.denied(), outcome.torn, outcome.disordered, outcome.stored_twice, outcome.clean() ? "clean" : "FAILED",
      seed);
  return text;
}

std::string as_json(const Outcome& outcome, std::uint64_t seed) {
  const auto& matrix = outcome.matrix;
  json::object cells, reasons;
  for (std::size_t row = 0; row < verdicts::kVerdicts; ++row) {
    const auto verdict = static_cast<Verdict>(row);
    cells[json::string_view{name_of(verdict)}] = {matrix.count(verdict, 0), matrix.count(verdict, 1),
                                                  matrix.count(verdict, 2)};
  }
  for (const auto& [reason, count] : outcome.doubts) reasons[reason] = count;
  const auto& kills = outcome.kills;
  return json::serialize(json::object{
             {"seed", seed},
             {"messages", matrix.all()},
             {"seconds", outcome.seconds},
             {"kills", {{"host", kills.host}, {"agent", kills.agent}, {"daemon", kills.daemon}}},
             {"matrix", cells},
             {"doubts", {{"count", matrix.in_doubt()}, {"allowed", outcome.doubts_allowed()}, {"reasons", reasons}}},
             {"falseDelivered", matrix.false_delivered()},
             {"lost", matrix.lost()},
             {"undelivered", {{"count", matrix.undelivered()}, {"excused", matrix.excused()}}},
             {"doubled", matrix.doubled()},
             {"denied", matrix.denied()},
             {"torn", outcome.torn},
             {"disordered", outcome.disordered},
             {"storedTwice", outcome.stored_twice},
             {"examples", json::array(outcome.examples.begin(), outcome.examples.end())},
             {"clean", outcome.clean()}}) +
         "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const auto values = crash::Arguments::parse(argc, argv, {"--keep", "--json"});
  if (!values) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  verdicts::DriverOptions options;
  const char* program = std::getenv("RELAY_BIN");
  const auto path = [](const std::string& named) {
    return named.empty() ? named : std::filesystem::absolute(named).string();
  };
  options.props = {.program = path(program && *program ? program : values->text("--program")),
                   .agent = path(values->text("--agent")),
                   .profile = path(values->text("--profile")),
                   .agents = values->number("--agents", options.props.agents),
                   .keep = values->has("--keep")};
  if (values->has("--durability")) options.props.durability = values->text("--durability");
  options.messages = values->number("--messages", options.messages);
  options.senders = values->number("--senders", options.senders);
  options.kills_per_minute = values->number("--kills-per-minute", options.kills_per_minute);
  options.quiet = values->has("--json");
  SystemRandom random;
  options.seed = values->number("--seed", random.next() % 1'000'000);
  const auto& props = options.props;
  if (props.program.empty() || props.agent.empty() || props.profile.empty() || props.agents == 0 ||
      options.senders == 0 || options.messages == 0) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (!options.quiet)
    say(relay::format("verdicts of {}, {} messages to {} agents, seed {}\n", props.program, options.messages,
                      props.agents, options.seed));
  const auto outcome = verdicts::run_verdict_test(options);
  if (!outcome) {
    std::fputs(relay::format("failed: {}\nseed {}\n", outcome.error().message(), options.seed).c_str(), stderr);
    return 1;
  }
  say(options.quiet ? as_json(*outcome, options.seed) : as_text(*outcome, options.seed));
  return outcome->clean() ? 0 : 1;
}
