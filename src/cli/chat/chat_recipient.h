/// The recipient of a chat line without `@NAME`.
///
/// The rule: the last existing agent named with `@NAME` or `--to`; on a terminal, the last agent that has written since. An
///   agent that writes while the user types becomes the recipient of the next line, so that the prompt stays true for the
///   current one. The same holds when the daemon reports late that the recipient is unknown: the previous recipient is
///   that of the next line, unless the user names another.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace relay::cli {

class ChatRecipient {
 public:
  explicit ChatRecipient(std::string name) : name_{std::move(name)} {}

  [[nodiscard]] const std::string& name() const { return name_; }

  /// The user named it.
  void choose(std::string name) {
    if (name != name_) replace_with(std::move(name));
    next_.clear();
  }
  /// A message of that id was sent to the recipient.
  void on_sent(std::string id) { unanswered_.insert_or_assign(std::move(id), name_); }
  void on_answered(const std::string& id) { unanswered_.erase(id); }
  /// The recipient of that message is unknown.
  void on_unknown_recipient(const std::string& id, bool is_typing) {
    const auto refused = unanswered_.extract(id);
    if (!refused) return;
    std::erase(previous_, refused.mapped());
    if (refused.mapped() != name_) return;
    unknown_ = name_;
    if (previous_.empty()) return;
    if (!is_typing)
      replace_with(std::string{previous_.back()});
    else if (next_.empty())
      next_ = previous_.back();
  }
  /// An agent sent a direct message.
  void on_message_from(std::string name, bool is_typing) {
    if (is_typing)
      next_ = std::move(name);
    else if (name != name_)
      replace_with(std::move(name));
  }
  /// The current line was sent or cleared.
  void on_line_end() {
    if (!next_.empty()) replace_with(std::exchange(next_, {}));
  }

 private:
  static constexpr std::size_t kMaxPrevious = 16;

  void replace_with(std::string name) {
    std::erase(previous_, name);
    if (!name_.empty() && name_ != name && name_ != unknown_) previous_.push_back(std::move(name_));
    if (previous_.size() > kMaxPrevious) previous_.erase(previous_.begin());
    name_ = std::move(name);
  }

  std::string name_, next_;
  std::string unknown_;                            // the last unknown recipient
  std::vector<std::string> previous_;              // oldest first, without duplicates
  std::map<std::string, std::string> unanswered_;  // id to recipient; bounded by the outbox
};

}  // namespace relay::cli
