/// To whom a line of the chat goes when it names nobody.
///
/// The rule: the last known one named with `@NAME` or `--to`; at a terminal, whoever wrote to us since. Somebody who writes
///   while a line is being typed becomes the recipient of the next line, never of that one: the prompt never lies about
///   the words that stand behind it. The same holds when the daemon says late that nobody has the recipient's name: then the
///   recipient before is that of the next line, and only while no other was named.
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

  /// The person said so.
  void choose(std::string name) {
    if (name != name_) leave_for(std::move(name));
    next_.clear();
  }
  /// A message of that id went to the recipient.
  void sent(std::string id) { unanswered_.insert_or_assign(std::move(id), name_); }
  void answered(const std::string& id) { unanswered_.erase(id); }
  /// Nobody has the name that this message went to.
  void refused_as_unknown(const std::string& id, bool is_typing) {
    const auto refused = unanswered_.extract(id);
    if (!refused) return;
    std::erase(before_, refused.mapped());
    if (refused.mapped() != name_) return;
    unknown_ = name_;
    if (before_.empty()) return;
    if (!is_typing)
      leave_for(std::string{before_.back()});
    else if (next_.empty())
      next_ = before_.back();
  }
  /// Somebody wrote to us alone.
  void heard_from(std::string name, bool is_typing) {
    if (is_typing)
      next_ = std::move(name);
    else if (name != name_)
      leave_for(std::move(name));
  }
  /// The line that was typed is gone.
  void line_ended() {
    if (!next_.empty()) leave_for(std::exchange(next_, {}));
  }

 private:
  static constexpr std::size_t kMaxBefore = 16;

  void leave_for(std::string name) {
    std::erase(before_, name);
    if (!name_.empty() && name_ != name && name_ != unknown_) before_.push_back(std::move(name_));
    if (before_.size() > kMaxBefore) before_.erase(before_.begin());
    name_ = std::move(name);
  }

  std::string name_, next_;
  std::string unknown_;                            // refused last
  std::vector<std::string> before_;                // oldest first, each once
  std::map<std::string, std::string> unanswered_;  // by id: whom it went to; as bounded as the outbox
};

}  // namespace relay::cli
