/// crash_test: see README.md. Without --role it drives; with --role client it is one of the driven.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "base/format.h"
#include "base/random.h"
#include "client_role.h"
#include "driver.h"

namespace {

using namespace relay;

constexpr const char* kUsage =
    "usage: crash_test --program PATH [--kills N] [--messages N] [--clients N] [--rate N] [--seed N]\n"
    "                  [--durability power|process] [--keep]\n"
    "RELAY_BIN in the environment goes before --program.\n";

/// `--name value` pairs; `--keep` stands alone.
std::optional<std::map<std::string, std::string>> parse(int argc, char** argv) {
  std::map<std::string, std::string> values;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) return std::nullopt;
    if (word == "--keep")
      values[word] = "yes";
    else if (i + 1 < argc)
      values[word] = argv[++i];
    else
      return std::nullopt;
  }
  return values;
}

std::uint64_t number(const std::map<std::string, std::string>& values, const std::string& name,
                     std::uint64_t otherwise) {
  const auto found = values.find(name);
  return found == values.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::string text(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string{} : found->second;
}

int be_client(const std::map<std::string, std::string>& values) {
  crash::ClientOptions options{.name = text(values, "--name"),
                               .peers = {},
                               .socket = text(values, "--socket"),
                               .directory = text(values, "--directory"),
                               .seed = number(values, "--seed", 0),
                               .messages_per_second = static_cast<int>(number(values, "--rate", 0)),
                               .stop_file = text(values, "--stop-file")};
  std::string peers = text(values, "--peers");
  for (std::size_t begin = 0; begin < peers.size();) {
    const auto end = std::min(peers.find(',', begin), peers.size());
    options.peers.push_back(peers.substr(begin, end - begin));
    begin = end + 1;
  }
  if (const auto result = crash::run_client(options); !result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    return 1;
  }
  return 0;
}

int drive(const std::map<std::string, std::string>& values) {
  crash::DriverOptions options;
  const char* program = std::getenv("RELAY_BIN");
  const std::string named = program && *program ? program : text(values, "--program");
  if (!named.empty()) options.program = std::filesystem::absolute(named).string();
  options.self = "/proc/self/exe";
  options.kills = number(values, "--kills", options.kills);
  options.messages = number(values, "--messages", options.messages);
  options.clients = number(values, "--clients", options.clients);
  options.messages_per_second =
      static_cast<int>(number(values, "--rate", static_cast<std::uint64_t>(options.messages_per_second)));
  options.keep = values.contains("--keep");
  if (values.contains("--durability")) options.durability = text(values, "--durability");
  SystemRandom random;
  options.seed = number(values, "--seed", random.next() % 1'000'000);
  if (options.program.empty() || options.clients < 2) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::fputs(
      relay::format("crash test of {}, seed {}, durability {}\n", options.program, options.seed, options.durability)
          .c_str(),
      stdout);
  std::fflush(stdout);

  const auto outcome = crash::run_crash_test(options);
  if (!outcome) {
    std::fputs(relay::format("failed: {}\nseed {}\n", outcome.error().message(), options.seed).c_str(), stdout);
    return 1;
  }
  const auto& verdict = outcome->verdict;
  for (const auto& example : verdict.examples) std::printf("  %s\n", example.c_str());
  std::fputs(relay::format("{} kills of the daemon, {} of clients, {:.0f} s\n"
                           "{} messages accepted, {} in doubt, {} received\n"
                           "{} lost, {} duplicated, {} out of order, {} invented, {} refused: {} (seed {})\n",
                           outcome->daemon_kills, outcome->client_kills, outcome->seconds, verdict.accepted,
                           verdict.in_doubt, verdict.received, verdict.lost, verdict.duplicated, verdict.disordered,
                           verdict.invented, verdict.refused, verdict.clean() ? "clean" : "FAILED", options.seed)
                 .c_str(),
             stdout);
  return verdict.clean() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto values = parse(argc, argv);
  if (!values) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return text(*values, "--role") == "client" ? be_client(*values) : drive(*values);
}
