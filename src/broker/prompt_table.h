/// What one agent asks the user, while it is not resolved.
///
/// Invariants: at most kMaxRequests are kept, oldest first; an id is there once; a prompt is here only while its session
///   lasts and once its event is stored. The ids of the newest kMaxClosedRequests closed prompts are kept until the daemon
///   ends, so that a late answer differs from an answer to a prompt that never existed.
/// Pure. Threading: one thread.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "events/event.h"
#include "permissions/permission_request.h"

namespace relay::broker {

inline constexpr std::size_t kMaxRequests = 128;        // of one agent; a host has half of that
inline constexpr std::size_t kMaxClosedRequests = 256;  // whose ids are remembered, of one agent

struct OpenPrompt {
  std::string id;                       // requestId, questionId
  events::Event event;                  // PermissionRequested or QuestionRequested
  WallMs asked_at = 0;                  // as the session reports, never later than the event came
  permissions::Decision decision = {};  // of a permission
  bool answering = false;               // an answer is being delivered
  bool late = false;                    // its time is over, and the broker has tried to deny it
  bool user_notified = false;
  bool spawn = false;  // an agent wants to start another: decided by the broker, not by a host

  [[nodiscard]] const events::PermissionRequested* permission() const {
    return std::get_if<events::PermissionRequested>(&event);
  }
  [[nodiscard]] bool can_answer() const;
  /// When it is denied because nobody has answered.
  [[nodiscard]] std::optional<WallMs> expires_at() const;
  /// The same question as the other, whether or not it can be answered and however it is judged.
  [[nodiscard]] bool asks_like(const OpenPrompt& other) const;
};

/// The prompt of an event; `object` is the event as it came, with its time.
std::optional<OpenPrompt> parse_prompt(const events::Event& event, const json::object& object, WallMs now);
/// The id of the prompt that an event resolves; empty when it resolves none.
std::string resolved_prompt_id(const events::Event& event);

class PromptTable {
 public:
  [[nodiscard]] OpenPrompt* find(std::string_view id);
  /// As the session reported it last, perhaps not stored yet.
  [[nodiscard]] const OpenPrompt* last_reported(std::string_view id) const;
  void begin_storing(const OpenPrompt& prompt) { storing_.push_back(prompt); }
  void end_storing(std::string_view id);
  /// Null when there are too many.
  OpenPrompt* add(OpenPrompt prompt);
  bool remove(std::string_view id);
  /// Its end was reported and is being stored: the end of the session does not withdraw it.
  void begin_ending(std::string id) { ending_.push_back(std::move(id)); }
  void end_ending(std::string_view id);
  [[nodiscard]] bool is_ending(std::string_view id) const { return std::ranges::find(ending_, id) != ending_.end(); }
  /// Nothing is open any more; prompts that are being stored still open later.
  std::deque<OpenPrompt> take_all();
  /// It was open once and is closed now.
  [[nodiscard]] bool was_open(std::string_view id) const { return std::ranges::find(closed_, id) != closed_.end(); }

  [[nodiscard]] std::deque<OpenPrompt>& all() { return open_; }
  [[nodiscard]] const std::deque<OpenPrompt>& all() const { return open_; }

 private:
  void remember_closed(const std::string& id);

  std::deque<OpenPrompt> open_;
  std::deque<std::string> closed_;   // ids, oldest first
  std::vector<std::string> ending_;  // bounded likewise
  std::deque<OpenPrompt> storing_;   // in the order they were reported; bounded by what may wait for a commit
};

}  // namespace relay::broker
