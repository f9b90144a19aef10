/// A program at a terminal of its own, as a person sees it: what is typed echoes, what it says appears on the screen.
///
/// The screen is read only when the test asks, so a slow terminal is one that nobody reads. Ended with the test.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sandbox.h"

namespace relay::cli_tests {

class Terminal {
 public:
  struct SimClient {
    std::vector<std::string> command;  // begins with a path
  };
  Terminal(Sandbox& box, const std::vector<std::string>& words, unsigned short columns = 80);  // 24 rows
  Terminal(Sandbox& box, const SimClient& other);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text) const;
  void resize(unsigned short columns, unsigned short rows) const;
  /// True once `text` stands on the screen, false when it does not come. Reads at most `chunk` bytes at a time.
  [[nodiscard]] bool shows(const std::string& text, std::size_t chunk = 4096);
  /// Reads what there is.
  void read_all();
  /// The same, for somebody who draws it: every byte as it came.
  void read_all_raw(const std::function<void(std::string_view)>& take);
  /// What was read so far no longer counts.
  void forget() { screen_.clear(); }
  /// All that was read so far, line ends as the program wrote them.
  [[nodiscard]] const std::string& screen() const { return screen_; }
  /// The same with sentences that were broken at blanks in one line again.
  [[nodiscard]] std::string unfolded() const;
  /// Waits for its end; the exit code.
  int finish();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  std::string open(unsigned short columns = 80);
  bool read_some(std::size_t chunk, int patience_ms = 10);

  int master_ = -1;
  pid_t pid_ = -1;
  std::string screen_;
};

}  // namespace relay::cli_tests
