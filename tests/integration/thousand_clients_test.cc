/// A thousand clients on one daemon: all served, nothing lost, memory flat.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/format.h"
#include "integration/crowd.h"
#include "integration/daemon_process.h"

namespace relay::integration {
namespace {

using std::chrono::seconds;

constexpr std::size_t kClients = 1'000;
constexpr std::size_t kMessagesEach = 20;
constexpr long kMaxIdleKbEach = 32;
// The allocator keeps the memory of a burst of 20 000 messages, and bursts differ. A leak makes every round higher: a leak
// of 50 bytes per message by this much.
constexpr long kRiseKb = 1'000;
constexpr int kFlatRounds = 5;  // in a row
constexpr int kMaxRounds = 40;

long resident_kb(pid_t pid) {
  std::ifstream status{format("/proc/{}/status", pid)};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

TEST(ThousandClients, ExchangeMessagesWithFlatMemory) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < kClients + 100) GTEST_SKIP() << "the limit of descriptors is too low: " << limit.rlim_cur;

  DaemonProcess daemon;
  daemon.environment["AGENT_RELAY_DURABILITY"] = "process";
  daemon.environment["AGENT_RELAY_BREAK_LOOPS"] = "false";  // bodies are only numbers
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  const long empty_kb = resident_kb(daemon.pid());

  Crowd crowd{daemon.socket(), kClients};
  ASSERT_TRUE(crowd.connect(seconds{60})) << crowd.error();
  crowd.answer_pings_for(std::chrono::milliseconds{500});
  const long idle_kb_each = (resident_kb(daemon.pid()) - empty_kb) / static_cast<long>(kClients);
  std::cout << "idle: " << idle_kb_each << " KB for each of " << kClients << " clients\n";
  EXPECT_LE(idle_kb_each, kMaxIdleKbEach);

  long highest_kb = 0;
  int rounds = 0;
  for (int flat = 0; flat < kFlatRounds && rounds < kMaxRounds; ++rounds) {
    ASSERT_TRUE(crowd.exchange(kMessagesEach, seconds{60})) << crowd.error();
    const long now_kb = resident_kb(daemon.pid());
    flat = now_kb > highest_kb + kRiseKb ? 0 : flat + 1;
    highest_kb = std::max(highest_kb, now_kb);
  }
  std::cout << crowd.delivered() << " messages in " << rounds << " rounds; " << highest_kb
            << " KB, stable at the end\n";
  EXPECT_LT(rounds, kMaxRounds) << "memory never became stable";
  EXPECT_EQ(crowd.delivered(), kClients * kMessagesEach * static_cast<std::size_t>(rounds));
  EXPECT_EQ(crowd.out_of_order(), 0U);
  EXPECT_EQ(daemon.terminate(SIGTERM).exit_code, 0) << daemon.log();
}

}  // namespace
}  // namespace relay::integration
