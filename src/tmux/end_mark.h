/// The mark that the keeper writes to the terminal behind the program's last output, and finding it there. Pure.
///
/// Invariants: however the output is cut, what stood before the mark comes once and in order, and nothing of the mark.
///   What may be its beginning waits for the next bytes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace relay::tmux {

class EndMark {
 public:
  /// `secret` makes it one that no program can know. Terminals show nothing of it.
  explicit EndMark(std::string_view secret) : text_{format("\x1b]7770;{}\x1b\\", secret)} {}

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool found() const { return found_; }

  /// Of these bytes and those that waited: what certainly stands before the mark.
  std::string before(std::string_view bytes) {
    if (found_) return {};
    auto all = std::exchange(waiting_, {}).append(bytes);
    if (const auto at = all.find(text_); at != std::string::npos) {
      found_ = true;
      all.resize(at);
      return all;
    }
    auto size = std::min(text_.size() - 1, all.size());
    while (!all.ends_with(std::string_view{text_}.substr(0, size))) --size;
    waiting_ = all.substr(all.size() - size);
    all.resize(all.size() - size);
    return all;
  }

 private:
  std::string text_;
  std::string waiting_;
  bool found_ = false;
};

}  // namespace relay::tmux
