#include "forwarding/roles.h"

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "forwarding/poll_forwarder.h"
#include "pty/testing/forwarder.h"

namespace relay::bench {
namespace {

void enter_raw_mode() {
  termios raw{};
  ::tcgetattr(0, &raw);
  ::cfmakeraw(&raw);
  ::tcsetattr(0, TCSANOW, &raw);
  [[maybe_unused]] const auto ignored = ::write(1, kReadyText.data(), kReadyText.size());
}

int echo() {
  enter_raw_mode();
  std::array<char, 4096> block;
  for (ssize_t count; (count = ::read(0, block.data(), block.size())) > 0;)
    if (::write(1, block.data(), static_cast<std::size_t>(count)) != count) return 1;
  return 0;
}

/// Waits for a key, writes the flood, and waits for another key.
int flood(std::size_t megabytes) {
  enter_raw_mode();
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

int forward_by_parts(pty::Command command) {
  net::AsioLoop loop;
  pty::testing::Forwarder forwarder{loop};
  if (!forwarder.start(std::move(command))) return 3;
  loop.run();
  return 0;
}

}  // namespace

int play_role(int argc, char** argv) {
  if (argc < 3 || argv[1] != std::string_view{"role"}) return -1;
  const std::string_view role = argv[2];
  if (role == "echo") return echo();
  if (role == "flood" && argc > 3) return flood(std::strtoul(argv[3], nullptr, 10));
  pty::Command command{.argv = {argv + 3, argv + argc}, .environment = pty::inherited_environment(), .directory = {}};
  if (role == "poll") return forward_by_poll(command);
  if (role == "parts") return forward_by_parts(std::move(command));
  return -1;
}

}  // namespace relay::bench
