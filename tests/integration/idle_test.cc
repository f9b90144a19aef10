/// Idle means asleep: nothing wakes the daemon but heartbeats.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

/// How often any thread of the process went to sleep of its own will: once per wake-up.
long wakeups_of(pid_t pid) {
  long sum = 0;
  for (const auto& task : std::filesystem::directory_iterator{format("/proc/{}/task", pid)}) {
    std::ifstream status{task.path() / "status"};
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("voluntary_ctxt_switches:")) sum += std::stol(line.substr(line.find(':') + 1));
    }
  }
  return sum;
}

TEST(Idle, DaemonWithConnectedClientsSleepsBetweenHeartbeats) {
  constexpr int kClients = 100;
  DaemonProcess daemon;
  daemon.environment["AGENT_RELAY_HEARTBEAT_MS"] = "600000";
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<RawClient>(daemon.socket()));
    clients.back()->hello(format("Agent{}", i));
  }
  ::usleep(1'000'000);  // roster files are gathered for a moment, the store indexes what is new
  const long before = wakeups_of(daemon.pid());
  ::usleep(3'000'000);
  const long woken = wakeups_of(daemon.pid()) - before;
  RecordProperty("wakeups_in_3_s", static_cast<int>(woken));
  EXPECT_LE(woken, 1);
}

}  // namespace
}  // namespace relay::integration
