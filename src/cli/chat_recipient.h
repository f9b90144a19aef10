/// To whom a line of the chat goes when it names nobody.
///
/// The rule: the last known one named with `@NAME` or `--to`; at a terminal, whoever wrote to us since. Somebody who writes
///   while a line is being typed becomes the recipient of the next line, never of that one: the prompt never lies about
///   the words that stand behind it.
#pragma once

#include <string>
#include <utility>

namespace relay::cli {

class ChatRecipient {
 public:
  explicit ChatRecipient(std::string name) : name_{std::move(name)} {}

  [[nodiscard]] const std::string& name() const { return name_; }

  /// The person said so.
  void choose(std::string name) {
    if (name != name_) before_ = name_;
    name_ = std::move(name);
    next_.clear();
  }
  /// Nobody has the name that was chosen last: the recipient is the one before.
  void forget_unknown() {
    if (!before_.empty()) name_ = std::exchange(before_, {});
  }
  /// Somebody wrote to us alone.
  void heard_from(std::string name, bool is_typing) { (is_typing ? next_ : name_) = std::move(name); }
  /// The line that was typed is gone.
  void line_ended() {
    if (!next_.empty()) name_.swap(next_);
    next_.clear();
  }

 private:
  std::string name_, next_, before_;
};

}  // namespace relay::cli
