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

/// How often the process wakes up in that time.
long wakeups_within(pid_t pid, std::chrono::milliseconds time) {
  const long before = wakeups_of(pid);
  ::usleep(static_cast<useconds_t>(std::chrono::microseconds{time}.count()));
  return wakeups_of(pid) - before;
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
  const long woken = wakeups_within(daemon.pid(), std::chrono::seconds{3});
  RecordProperty("wakeups_in_3_s", static_cast<int>(woken));
  EXPECT_LE(woken, 1);
}

TEST(Idle, DaemonIsQuietSoonAfterALoad) {
  constexpr int kMessages = 30'000, kAtOnce = 50;
  DaemonProcess daemon;
  daemon.environment["AGENT_RELAY_HEARTBEAT_MS"] = "600000";
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()}, bob{daemon.socket()};
  alice.hello("Alice");
  bob.hello("Bob");
  for (int sent = 0; sent < kMessages; sent += kAtOnce) {
    for (int i = 0; i < kAtOnce; ++i) alice.send("Bob", "x", format("m{}", sent + i));
    for (int i = 0; i < kAtOnce; ++i) ASSERT_EQ(bob.next_text(), "x");
    for (int i = 0; i < kAtOnce; ++i) alice.hear_type("ACK");
  }
  int busy_seconds = 0;  // the file of events is written behind the commits
  while (busy_seconds < 20 && wakeups_within(daemon.pid(), std::chrono::seconds{1}) > 1) ++busy_seconds;
  RecordProperty("busy_seconds", busy_seconds);
  EXPECT_LE(busy_seconds, 10) << "it takes 19 when only a tenth of the time goes into the file";
  const long woken = wakeups_within(daemon.pid(), std::chrono::seconds{6});
  RecordProperty("wakeups_in_6_s", static_cast<int>(woken));
  EXPECT_LT(woken, 6) << "less than one a second";
}

}  // namespace
}  // namespace relay::integration
