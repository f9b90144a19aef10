/// A program on its own pseudo-terminal: typed input is echoed, its output appears on the screen.
///
/// The screen is read only when the test reads it, so an unread terminal is a slow one. Killed with the test.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sandbox.h"

namespace relay::cli_tests {

class Terminal {
 public:
  struct Program {
    std::vector<std::string> command;  // starts with a path
  };
  Terminal(Sandbox& box, const std::vector<std::string>& words, unsigned short columns = 80);  // 24 rows
  Terminal(Sandbox& box, const Program& other);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text) const;
  void resize(unsigned short columns, unsigned short rows) const;
  /// True once `text` is on the screen, false on a timeout. Reads at most `chunk` bytes at a time.
  [[nodiscard]] bool shows(const std::string& text, std::size_t chunk = 4096);
  /// Reads all available output.
  void read_all();
  /// The same, unchanged bytes, for a terminal model.
  void read_all_raw(const std::function<void(std::string_view)>& take);
  /// Discards the output read so far.
  void clear() { screen_.clear(); }
  /// All output read so far, with the line ends of the program.
  [[nodiscard]] const std::string& screen() const { return screen_; }
  /// The same with wrapped lines joined.
  [[nodiscard]] std::string unwrapped() const;
  /// Waits for the exit and returns the exit code.
  int finish();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  std::string open(unsigned short columns = 80);
  bool read_some(std::size_t chunk, int timeout_ms = 10);

  int master_ = -1;
  pid_t pid_ = -1;
  std::string screen_;
};

}  // namespace relay::cli_tests
