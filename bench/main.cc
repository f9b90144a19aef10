/// relay_bench PROGRAM [--messages N] [--rounds N]: see README.md.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>

#include "base/format.h"
#include "daemon_under_test.h"
#include "figures.h"
#include "forwarder.h"
#include "measure.h"

namespace {

using namespace relay;
using namespace relay::bench;

/// One daemon, its two agents and what was measured.
struct Candidate {
  DaemonUnderTest daemon;
  Peer sender;
  Peer receiver;
};

Result<void> run(const std::string& program, const Load& load, int rounds) {
  const std::vector<Storage> storages{{"agent-relay, memory", "memory", "process"},
                                      {"agent-relay, SQLite process", "sqlite", "process"},
                                      {"agent-relay, SQLite power", "sqlite", "power"}};
  std::vector<Figures> rows{{.title = "raw two-hop forwarder"}};
  auto forwarder = RELAY_TRY(Forwarder::start());
  std::deque<Candidate> candidates;
  for (const auto& storage : storages) {
    auto daemon = RELAY_TRY(DaemonUnderTest::start(program, storage));
    auto sender = RELAY_TRY(daemon.join("Alice"));
    auto receiver = RELAY_TRY(daemon.join("Bob"));
    candidates.push_back({std::move(daemon), std::move(sender), std::move(receiver)});
    rows.push_back({.title = storage.title});
  }
  for (int round = 0; round < rounds; ++round) {
    std::printf("round %d of %d\n", round + 1, rounds);
    std::fflush(stdout);
    RELAY_TRY(measure_forwarder(forwarder.sender, forwarder.receiver, load, rows[0]));
    for (std::size_t i = 0; i < candidates.size(); ++i)
      RELAY_TRY(measure_daemon(candidates[i].sender, candidates[i].receiver, load, rows[i + 1]));
  }
  std::printf("\n%s\n%zu-byte bodies, %d rounds of %zu sequential and %zu streamed messages each\n\n",
              machine().c_str(), load.body_bytes, rounds, load.sequential, load.streaming);
  print_table(rows);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Load load;
  int rounds = 5;
  std::string program;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--messages" && i + 1 < argc)
      load.streaming = std::strtoul(argv[++i], nullptr, 10);
    else if (word == "--rounds" && i + 1 < argc)
      rounds = std::atoi(argv[++i]);
    else
      program = word;
  }
  if (program.empty() || load.streaming == 0 || rounds < 1) {
    std::fputs("usage: relay_bench PROGRAM [--messages N] [--rounds N]\n", stderr);
    return 2;
  }
  if (const auto result = run(program, load, rounds); !result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    return 1;
  }
  return 0;
}
