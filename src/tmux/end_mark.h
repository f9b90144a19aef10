/// The mark that the shim writes to the terminal behind the program's last output, and its detection. Pure.
///
/// Invariants: the output before the mark is returned once and in order, and no byte of the mark, however the output is
///   split. Bytes that may start the mark are held until the next bytes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace relay::tmux {

class EndMark {
 public:
  /// `secret` makes the mark unpredictable for programs. Terminals do not display it.
  explicit EndMark(std::string_view secret) : text_{format("\x1b]7770;{}\x1b\\", secret)} {}

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool found() const { return found_; }

  /// Of these and the held bytes: those that are certainly before the mark.
  std::string before(std::string_view bytes) {
    if (found_) return {};
    auto all = std::exchange(held_, {}).append(bytes);
    if (const auto at = all.find(text_); at != std::string::npos) {
      found_ = true;
      all.resize(at);
      return all;
    }
    auto size = std::min(text_.size() - 1, all.size());
    while (!all.ends_with(std::string_view{text_}.substr(0, size))) --size;
    held_ = all.substr(all.size() - size);
    all.resize(all.size() - size);
    return all;
  }

 private:
  std::string text_;
  std::string held_;
  bool found_ = false;
};

}  // namespace relay::tmux
