/// What one agent asks a person and nobody has answered yet.
///
/// Invariants: at most kMaxRequests are kept, oldest first; an id is there once; a request is here only while its session
///   lasts and once its event is stored. The ids of the newest kMaxClosedRequests closed requests are remembered until the
///   daemon ends, so that a late answer is told apart from an answer to a request that never existed.
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
  WallMs asked_at = 0;                  // as the session says, never later than it was heard
  permissions::Decision decision = {};  // of a permission
  bool replying = false;                // an answer is on its way
  bool late = false;                    // its time is over, and it was tried to deny it
  bool person_wanted = false;           // and somebody was told so
  bool spawn = false;                   // an agent wants to start another: decided here, not by a host

  [[nodiscard]] const events::PermissionRequested* permission() const {
    return std::get_if<events::PermissionRequested>(&event);
  }
  [[nodiscard]] bool can_answer() const;
  /// When it is denied for want of an answer.
  [[nodiscard]] std::optional<WallMs> expires_at() const;
  /// The same question as the other; that it can be answered elsewhere now, or is judged otherwise, makes no other of it.
  [[nodiscard]] bool asks_like(const OpenPrompt& other) const;
};

/// What an event asks; `object` is the event as it came, with the time it tells.
std::optional<OpenPrompt> parse_prompt(const events::Event& event, const json::object& object, WallMs now);
/// The id of what an event says is over; empty when it says no such thing.
std::string resolved_prompt_id(const events::Event& event);

class PromptTable {
 public:
  [[nodiscard]] OpenPrompt* find(std::string_view id);
  /// As it was told last, though perhaps it is not stored yet.
  [[nodiscard]] const OpenPrompt* told_last(std::string_view id) const;
  void begin_storing(const OpenPrompt& request) { storing_.push_back(request); }
  void end_storing(std::string_view id);
  /// Null when there are too many.
  OpenPrompt* add(OpenPrompt request);
  bool remove(std::string_view id);
  /// Its end is told and being stored: whoever ends the session has nothing to say of it any more.
  void begin_ending(std::string id) { ending_.push_back(std::move(id)); }
  void end_ending(std::string_view id);
  [[nodiscard]] bool is_ending(std::string_view id) const { return std::ranges::find(ending_, id) != ending_.end(); }
  /// Nothing is open any more; what is being stored goes on.
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
  std::deque<OpenPrompt> storing_;   // in the order they were told; bounded by what may wait for a commit
};

}  // namespace relay::broker
