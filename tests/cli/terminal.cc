#include "cli/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace relay::cli_tests {

Terminal::Terminal(Sandbox& box, const std::vector<std::string>& words, unsigned short columns) {
  pid_ = box.start_at(words, open(columns));
}

Terminal::Terminal(Sandbox& box, const Program& other) { pid_ = box.start_program_at(other.command, open()); }

std::string Terminal::open(unsigned short columns) {
  master_ = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(master_, 0);
  EXPECT_EQ(::fcntl(master_, F_SETFD, FD_CLOEXEC), 0);
  EXPECT_TRUE(::grantpt(master_) == 0 && ::unlockpt(master_) == 0);
  resize(columns, 24);
  std::array<char, 64> name{};
  EXPECT_EQ(::ptsname_r(master_, name.data(), name.size()), 0);
  return name.data();
}

Terminal::~Terminal() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(master_);
}

void Terminal::type(const std::string& text) const {
  EXPECT_EQ(::write(master_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

void Terminal::resize(unsigned short columns, unsigned short rows) const {
  const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
}

void Terminal::read_all() {
  while (read_some(64 * 1024, 0)) {}
}

void Terminal::read_all_raw(const std::function<void(std::string_view)>& take) {
  std::array<char, 4096> buffer{};
  pollfd watched{master_, POLLIN, 0};
  while (::poll(&watched, 1, 0) > 0) {
    const auto count = ::read(master_, buffer.data(), buffer.size());
    if (count <= 0) return;
    take({buffer.data(), static_cast<std::size_t>(count)});
  }
}

bool Terminal::read_some(std::size_t chunk, int timeout_ms) {
  pollfd watched{master_, POLLIN, 0};
  if (::poll(&watched, 1, timeout_ms) <= 0) return false;
  std::string buffer(chunk, '\0');
  const auto count = ::read(master_, buffer.data(), buffer.size());
  for (const char c : buffer.substr(0, count > 0 ? static_cast<std::size_t>(count) : 0))
    if (c != '\r') screen_ += c;
  return count > 0;
}

bool Terminal::shows(const std::string& text, std::size_t chunk) {
  std::size_t searched = 0;
  return eventually([&] {
    while (read_some(chunk)) {}
    const bool found = screen_.find(text, searched) != std::string::npos;
    searched = screen_.size() > text.size() ? screen_.size() - text.size() : 0;
    return found;
  });
}

std::string Terminal::unwrapped() const {
  auto text = screen_;
  for (auto at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at)) text.replace(at, 3, " ");
  return text;
}

int Terminal::finish() {
  int status = 0;
  const bool exited = eventually([&] {
    while (read_some(4096)) {}
    return ::waitpid(pid_, &status, WNOHANG) != 0;
  });
  EXPECT_TRUE(exited) << "it does not exit; the screen is: " << screen_;
  if (exited) pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace relay::cli_tests
