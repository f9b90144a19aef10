/// relay_pty_bench [--keys N] [--megabytes N] [--rounds N]: see README.md.
///
/// The same program plays all roles: the driver, the forwarders (`role poll CMD...`, `role relay CMD...`) and what runs
/// inside them (`role echo`, `role flood MEGABYTES`).
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "figures.h"
#include "forwarding/poll_forwarder.h"
#include "forwarding/seat_under_test.h"
#include "pty/testing/forwarder.h"

namespace {

using namespace relay;
using namespace relay::bench;

constexpr std::size_t kMegabyte = 1024 * 1024;
constexpr std::size_t kReadyBytes = 5;

struct Load {
  std::size_t keys = 3'000;
  std::size_t megabytes = 64;
  int rounds = 5;
};

struct Row {
  std::string title;
  std::vector<std::string> wrapper;  // words before the command
  std::vector<double> key_us = {};
  std::vector<double> seconds_per_mb = {};
  std::vector<double> cpu_per_mb = {};
};

void raw_and_ready() {
  termios raw{};
  ::tcgetattr(0, &raw);
  ::cfmakeraw(&raw);
  ::tcsetattr(0, TCSANOW, &raw);
  [[maybe_unused]] const auto ignored = ::write(1, "ready", kReadyBytes);
}

int echo() {
  raw_and_ready();
  std::array<char, 4096> block;
  for (ssize_t count; (count = ::read(0, block.data(), block.size())) > 0;)
    if (::write(1, block.data(), static_cast<std::size_t>(count)) != count) return 1;
  return 0;
}

/// Waits for a key, floods, and waits for another.
int flood(std::size_t megabytes) {
  raw_and_ready();
  char key{};
  if (::read(0, &key, 1) != 1) return 1;
  std::string block;
  while (block.size() < 64 * 1024)
    block += "a line such as agents write, of some eighty characters and a line end at its end\r\n";
  block.resize(64 * 1024);
  for (std::size_t left = megabytes * kMegabyte; left > 0;) {
    const auto count = ::write(1, block.data(), std::min(left, block.size()));
    if (count <= 0) return 1;
    left -= static_cast<std::size_t>(count);
  }
  return ::read(0, &key, 1) == 1 ? 0 : 1;
}

int relay_forward(pty::Command command) {
  net::AsioLoop loop;
  pty::testing::Forwarder forwarder{loop};
  if (!forwarder.start(std::move(command))) return 3;
  loop.run();
  return 0;
}

int play(int argc, char** argv) {
  const std::string role = argv[2];
  if (role == "echo") return echo();
  if (role == "flood") return flood(std::strtoul(argv[3], nullptr, 10));
  pty::Command command{.argv = {argv + 3, argv + argc}, .environment = pty::inherited_environment(), .directory = {}};
  return role == "poll" ? forward_by_poll(command) : relay_forward(std::move(command));
}

Result<SeatUnderTest> start(const Row& row, std::vector<std::string> inside) {
  auto words = row.wrapper;
  words.insert(words.end(), inside.begin(), inside.end());
  auto seat = RELAY_TRY(SeatUnderTest::start(words));
  RELAY_TRY(seat.read_all(kReadyBytes));
  return seat;
}

Result<void> measure(const std::string& self, const Load& load, Row& row) {
  {
    auto seat = RELAY_TRY(start(row, {self, "role", "echo"}));
    for (std::size_t i = 0; i < load.keys; ++i) row.key_us.push_back(RELAY_TRY(seat.keystroke()));
  }
  auto seat = RELAY_TRY(start(row, {self, "role", "flood", std::to_string(load.megabytes)}));
  const auto cpu_before = seat.cpu_seconds();
  RELAY_TRY(seat.type("g"));
  const auto seconds = RELAY_TRY(seat.read_all(load.megabytes * kMegabyte));
  const auto megabytes = static_cast<double>(load.megabytes);
  row.seconds_per_mb.push_back(seconds / megabytes);
  row.cpu_per_mb.push_back((seat.cpu_seconds() - cpu_before) / megabytes);
  return {};
}

void print(const std::vector<Row>& rows) {
  std::printf("%-26s %10s %10s %8s %12s %8s %12s %8s\n", "", "key p50", "key p99", "ratio", "output", "ratio", "CPU",
              "ratio");
  std::printf("%-26s %10s %10s %8s %12s %8s %12s %8s\n", "", "us", "us", "", "ms/MB", "", "ms/MB", "");
  const auto& yardstick = rows[1];
  for (const auto& row : rows) {
    const auto key = quantile(row.key_us, 0.5), output = quantile(row.seconds_per_mb, 0.5) * 1e3,
               cpu = quantile(row.cpu_per_mb, 0.5) * 1e3;
    std::printf("%-26s %10.1f %10.1f %8.2f %12.3f %8.2f %12.3f %8.2f\n", row.title.c_str(), key,
                quantile(row.key_us, 0.99), key / quantile(yardstick.key_us, 0.5), output,
                output / (quantile(yardstick.seconds_per_mb, 0.5) * 1e3), cpu,
                cpu / (quantile(yardstick.cpu_per_mb, 0.5) * 1e3));
  }
}

Result<void> run(const std::string& self, const Load& load) {
  std::vector<Row> rows{{"no forwarder (CPU: child)", {}},
                        {"bare poll() forwarder", {self, "role", "poll"}},
                        {"Child and PersonTerminal", {self, "role", "relay"}}};
  for (int round = 0; round < load.rounds; ++round)
    for (auto& row : rows) RELAY_TRY(measure(self, load, row));
  std::printf("%s\n%d rounds of %zu keys and %zu MB each\n\n", machine().c_str(), load.rounds, load.keys,
              load.megabytes);
  print(rows);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && argv[1] == std::string_view{"role"}) return play(argc, argv);
  Load load;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    const auto number = std::strtoul(argv[i + 1], nullptr, 10);
    if (word == "--keys") load.keys = number;
    if (word == "--megabytes") load.megabytes = number;
    if (word == "--rounds") load.rounds = static_cast<int>(number);
  }
  if (const auto result = run("/proc/self/exe", load); !result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    return 1;
  }
  return 0;
}
