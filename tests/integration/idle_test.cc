/// An idle daemon wakes only for heartbeats.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

/// Voluntary context switches of all threads of the process: one per wake-up.
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

/// The wake-ups of the process within a duration.
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
  ::usleep(1'000'000);  // roster writes are batched, the store indexes new rows
  const long woken = wakeups_within(daemon.pid(), std::chrono::seconds{3});
  RecordProperty("wakeups_in_3_s", static_cast<int>(woken));
  EXPECT_LE(woken, 1);
}

/// The number of the last event in these lines.
long last_number_in(std::string_view lines) {
  while (lines.ends_with('\n')) lines.remove_suffix(1);
  const auto event = parse_json_object(lines.substr(lines.rfind('\n') + 1));
  return event ? integer_member(*event, "_seq").value_or(0) : 0;
}

long newest_event(DaemonProcess& daemon) {
  return last_number_in(daemon.command({"events", "--limit", "1", "--json"}).output);
}

/// Reads the file, so that the daemon is not woken.
long last_event_in_file(const DaemonProcess& daemon) {
  constexpr std::streamoff kMaxLine = 64 * 1024;
  std::ifstream file{daemon.project_directory() + "/events.jsonl", std::ios::ate};
  file.seekg(std::max<std::streamoff>(0, file.tellg() - kMaxLine));
  const std::string end{std::istreambuf_iterator<char>{file}, {}};
  return last_number_in(std::string_view{end}.substr(0, end.rfind('\n') + 1));
}

/// For slow machines; within the timeout of the test.
constexpr std::chrono::seconds kFileTimeout{240};

TEST(Idle, DaemonSleepsSoonAfterALoad) {
  constexpr int kMessages = 30'000, kAtOnce = 50;
  DaemonProcess daemon;
  daemon.environment["AGENT_RELAY_HEARTBEAT_MS"] = "600000";
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()}, bob{daemon.socket()};
  alice.hello("Alice");
  bob.hello("Bob");
  for (int sent = 0; sent < kMessages; sent += kAtOnce) {
    for (int i = 0; i < kAtOnce; ++i) alice.send("Bob", "x", format("m{}", sent + i));
    for (int i = 0; i < kAtOnce; ++i) ASSERT_EQ(bob.next_body(), "x");
    for (int i = 0; i < kAtOnce; ++i) alice.receive_type("ACK");
  }
  const auto newest = newest_event(daemon);
  ASSERT_GT(newest, kMessages);
  const auto deadline = std::chrono::steady_clock::now() + kFileTimeout;
  while (last_event_in_file(daemon) < newest && std::chrono::steady_clock::now() < deadline) ::usleep(100'000);
  ASSERT_GE(last_event_in_file(daemon), newest) << "events.jsonl is written after the commits";
  ::usleep(1'000'000);                           // until the last page and the query for the newest event are finished
  constexpr int kSeconds = 15, kMaxWakeups = 9;  // cleanup takes about five, a few seconds after the load
  const long woken = wakeups_within(daemon.pid(), std::chrono::seconds{kSeconds});
  RecordProperty("wakeups_in_15_s", static_cast<int>(woken));
  EXPECT_LE(woken, kMaxWakeups) << "nothing is left to write";
}

}  // namespace
}  // namespace relay::integration
