/// delivery_accuracy_test: see README.md.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/format.h"
#include "base/json.h"
#include "crash/arguments.h"
#include "driver.h"

namespace {

using namespace relay;
using accuracy::Outcome;
using accuracy::RunResult;

constexpr const char* kUsage =
    "usage: delivery_accuracy_test --program PATH --agent PATH --profile PATH [--messages N] [--agents N]\n"
    "                              [--senders N] [--kills-per-minute N] [--seed N] [--durability power|process]\n"
    "                              [--json] [--keep]\n"
    "RELAY_BIN in the environment overrides --program.\n";

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string text_report(const RunResult& result, std::uint64_t seed) {
  const auto& [matrix, kills] = std::tie(result.matrix, result.kills);
  std::string text = "\n" + matrix.table() + "\n";
  for (const auto& [reason, count] : result.in_doubt_reasons)
    text += relay::format("in doubt, {}: {}\n", reason, count);
  for (const auto& example : result.examples) text += relay::format("  {}\n", example);
  text += relay::format("{} kills: {} of hosts, {} of agents, {} of the daemon; {:.0f} s, {:.1f} deliveries a second\n",
                        kills.all(), kills.host, kills.agent, kills.daemon, result.seconds,
                        static_cast<double>(matrix.all()) / result.seconds);
  text += relay::format("{} in doubt ({:.2f} %; allowed: {}, one for each killed host or agent), {} of them received\n",
                        matrix.in_doubt(), percent(matrix.in_doubt(), matrix.all()), result.max_in_doubt(),
                        matrix.count(Outcome::InDoubt, 1));
  text += relay::format(
      "{} falsely delivered, {} lost ({} of them recorded as undelivered), {} received twice, {} falsely undelivered, "
      "{} "
      "torn, {} out of order, {} stored twice: {} (seed {})\n",
      matrix.false_delivered(), matrix.lost(), matrix.undelivered() - matrix.allowed(), matrix.duplicated(),
      matrix.false_undelivered(), result.torn, result.out_of_order, result.stored_twice,
      result.clean() ? "clean" : "FAILED", seed);
  return text;
}

std::string json_report(const RunResult& result, std::uint64_t seed) {
  const auto& matrix = result.matrix;
  json::object cells, reasons;
  for (std::size_t row = 0; row < accuracy::kOutcomes; ++row) {
    const auto outcome = static_cast<Outcome>(row);
    cells[json::string_view{name_of(outcome)}] = {matrix.count(outcome, 0), matrix.count(outcome, 1),
                                                  matrix.count(outcome, 2)};
  }
  for (const auto& [reason, count] : result.in_doubt_reasons) reasons[reason] = count;
  const auto& kills = result.kills;
  return json::serialize(json::object{
             {"seed", seed},
             {"messages", matrix.all()},
             {"seconds", result.seconds},
             {"kills", {{"host", kills.host}, {"agent", kills.agent}, {"daemon", kills.daemon}}},
             {"matrix", cells},
             {"inDoubt", {{"count", matrix.in_doubt()}, {"allowed", result.max_in_doubt()}, {"reasons", reasons}}},
             {"falseDelivered", matrix.false_delivered()},
             {"lost", matrix.lost()},
             {"undelivered", {{"count", matrix.undelivered()}, {"allowed", matrix.allowed()}}},
             {"duplicated", matrix.duplicated()},
             {"falseUndelivered", matrix.false_undelivered()},
             {"torn", result.torn},
             {"outOfOrder", result.out_of_order},
             {"storedTwice", result.stored_twice},
             {"examples", json::array(result.examples.begin(), result.examples.end())},
             {"clean", result.clean()}}) +
         "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const auto values = crash::Arguments::parse(argc, argv, {"--keep", "--json"});
  if (!values) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  accuracy::DriverOptions options;
  const char* program = std::getenv("RELAY_BIN");
  const auto path = [](const std::string& value) {
    return value.empty() ? value : std::filesystem::absolute(value).string();
  };
  options.processes = {.program = path(program && *program ? program : values->value("--program")),
                       .agent = path(values->value("--agent")),
                       .profile = path(values->value("--profile")),
                       .agents = values->number("--agents", options.processes.agents),
                       .keep = values->has("--keep")};
  if (values->has("--durability")) options.processes.durability = values->value("--durability");
  options.messages = values->number("--messages", options.messages);
  options.senders = values->number("--senders", options.senders);
  options.kills_per_minute = values->number("--kills-per-minute", options.kills_per_minute);
  options.quiet = values->has("--json");
  SystemRandom random;
  options.seed = values->number("--seed", random.next() % 1'000'000);
  const auto& processes = options.processes;
  if (processes.program.empty() || processes.agent.empty() || processes.profile.empty() || processes.agents == 0 ||
      options.senders == 0 || options.messages == 0) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (!options.quiet)
    print(relay::format("delivery accuracy of {}, {} messages to {} agents, seed {}\n", processes.program,
                        options.messages, processes.agents, options.seed));
  const auto result = accuracy::run_delivery_accuracy_test(options);
  if (!result) {
    std::fputs(relay::format("failed: {}\nseed {}\n", result.error().message(), options.seed).c_str(), stderr);
    return 1;
  }
  print(options.quiet ? json_report(*result, options.seed) : text_report(*result, options.seed));
  return result->clean() ? 0 : 1;
}
