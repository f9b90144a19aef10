/// crash_test: see README.md. Without --role it is the driver, with --role client a client.
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
    "RELAY_BIN in the environment overrides --program.\n";

int run_client(const crash::Arguments& values) {
  crash::ClientOptions options{.name = values.value("--name"),
                               .peers = {},
                               .socket = values.value("--socket"),
                               .directory = values.value("--directory"),
                               .seed = values.number("--seed", 0),
                               .messages_per_second = static_cast<int>(values.number("--rate", 0)),
                               .stop_file = values.value("--stop-file")};
  std::string peers = values.value("--peers");
  for (std::size_t start = 0; start < peers.size();) {
    const auto end = std::min(peers.find(',', start), peers.size());
    options.peers.push_back(peers.substr(start, end - start));
    start = end + 1;
  }
  if (const auto result = crash::run_client(options); !result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    return 1;
  }
  return 0;
}

int run_driver(const crash::Arguments& values) {
  crash::DriverOptions options;
  const char* program = std::getenv("RELAY_BIN");
  const std::string path = program && *program ? program : values.value("--program");
  if (!path.empty()) options.program = std::filesystem::absolute(path).string();
  options.self = "/proc/self/exe";
  options.kills = values.number("--kills", options.kills);
  options.messages = values.number("--messages", options.messages);
  options.clients = values.number("--clients", options.clients);
  options.messages_per_second =
      static_cast<int>(values.number("--rate", static_cast<std::uint64_t>(options.messages_per_second)));
  options.keep = values.has("--keep");
  if (values.has("--durability")) options.durability = values.value("--durability");
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

  const auto result = crash::run_crash_test(options);
  if (!result) {
    std::fputs(relay::format("failed: {}\nseed {}\n", result.error().message(), options.seed).c_str(), stdout);
    return 1;
  }
  const auto& comparison = result->comparison;
  for (const auto& example : comparison.examples) std::printf("  %s\n", example.c_str());
  std::fputs(relay::format("{} kills of the daemon, {} of clients, {:.0f} s\n"
                           "{} messages accepted, {} in doubt, {} received\n"
                           "{} lost, {} duplicated, {} out of order, {} spurious, {} refused: {} (seed {})\n",
                           result->daemon_kills, result->client_kills, result->seconds, comparison.accepted,
                           comparison.in_doubt, comparison.received, comparison.lost, comparison.duplicated,
                           comparison.out_of_order, comparison.spurious, comparison.refused,
                           comparison.clean() ? "clean" : "FAILED", options.seed)
                 .c_str(),
             stdout);
  return comparison.clean() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto values = crash::Arguments::parse(argc, argv, {"--keep"});
  if (!values) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return values->value("--role") == "client" ? run_client(*values) : run_driver(*values);
}
