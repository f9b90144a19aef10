/// crash_test: see README.md. Without --role it drives; with --role client it is one of the driven.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "arguments.h"
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

int be_client(const crash::Arguments& values) {
  crash::ClientOptions options{.name = values.text("--name"),
                               .peers = {},
                               .socket = values.text("--socket"),
                               .directory = values.text("--directory"),
                               .seed = values.number("--seed", 0),
                               .messages_per_second = static_cast<int>(values.number("--rate", 0)),
                               .stop_file = values.text("--stop-file")};
  std::string peers = values.text("--peers");
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

int drive(const crash::Arguments& values) {
  crash::DriverOptions options;
  const char* program = std::getenv("RELAY_BIN");
  const std::string named = program && *program ? program : values.text("--program");
  if (!named.empty()) options.program = std::filesystem::absolute(named).string();
  options.self = "/proc/self/exe";
  options.kills = values.number("--kills", options.kills);
  options.messages = values.number("--messages", options.messages);
  options.clients = values.number("--clients", options.clients);
  options.messages_per_second =
      static_cast<int>(values.number("--rate", static_cast<std::uint64_t>(options.messages_per_second)));
  options.keep = values.has("--keep");
  if (values.has("--durability")) options.durability = values.text("--durability");
  SystemRandom random;
  options.seed = values.number("--seed", random.next() % 1'000'000);
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
  const auto values = crash::Arguments::parse(argc, argv, {"--keep"});
  if (!values) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return values->text("--role") == "client" ? be_client(*values) : drive(*values);
}
