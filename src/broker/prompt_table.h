/// The open prompts of one agent.
///
/// Invariants: at most kMaxOpenPrompts, oldest first; ids are unique; a prompt is in the table once its event is
///   stored, until it is resolved or its session ends. The ids of the newest kMaxClosedPrompts closed prompts are
///   remembered until the daemon ends, to distinguish a late answer from an answer to a prompt that never existed.
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

inline constexpr std::size_t kMaxOpenPrompts = 128;    // of one agent; a host has half of that
inline constexpr std::size_t kMaxClosedPrompts = 256;  // whose ids are remembered, of one agent

struct OpenPrompt {
  std::string id;                       // requestId, questionId
  events::Event event;                  // PermissionRequested or QuestionRequested
  WallMs requested_at = 0;              // as the session reports, at most the time of the event
  permissions::Decision decision = {};  // of a permission
  bool answering = false;               // an answer is being delivered
  bool late = false;                    // it has timed out, and the broker has tried to deny it
  bool user_notified = false;
  bool spawn = false;  // an agent requests to start another: handled by the broker, not by a host

  [[nodiscard]] const events::PermissionRequested* permission() const {
    return std::get_if<events::PermissionRequested>(&event);
  }
  [[nodiscard]] bool can_answer() const;
  /// When it times out.
  [[nodiscard]] std::optional<WallMs> expires_at() const;
  /// Whether both have the same content, apart from the risk and whether they can be answered.
  [[nodiscard]] bool is_same_request(const OpenPrompt& other) const;
};

/// The prompt of an event; `object` is the event as received, with its time.
std::optional<OpenPrompt> parse_prompt(const events::Event& event, const json::object& object, WallMs now);
/// The id of the prompt that an event resolves; empty when it resolves none.
std::string resolved_prompt_id(const events::Event& event);

class PromptTable {
 public:
  [[nodiscard]] OpenPrompt* find(std::string_view id);
  /// The last report of the prompt, which may not be stored yet.
  [[nodiscard]] const OpenPrompt* last_reported(std::string_view id) const;
  void start_storing(const OpenPrompt& prompt) { storing_.push_back(prompt); }
  void end_storing(std::string_view id);
  /// Null when the table is full.
  OpenPrompt* add(OpenPrompt prompt);
  bool remove(std::string_view id);
  /// Its resolution was reported and is being stored: the end of the session does not withdraw it.
  void start_ending(std::string id) { ending_.push_back(std::move(id)); }
  void end_ending(std::string_view id);
  [[nodiscard]] bool is_ending(std::string_view id) const { return std::ranges::find(ending_, id) != ending_.end(); }
  /// Closes all open prompts; prompts that are being stored still open later.
  std::deque<OpenPrompt> take_all();
  /// It was open and is closed now.
  [[nodiscard]] bool was_open(std::string_view id) const { return std::ranges::find(closed_, id) != closed_.end(); }

  [[nodiscard]] std::deque<OpenPrompt>& all() { return open_; }
  [[nodiscard]] const std::deque<OpenPrompt>& all() const { return open_; }

 private:
  void remember_closed(const std::string& id);

  std::deque<OpenPrompt> open_;
  std::deque<std::string> closed_;   // ids, oldest first
  std::vector<std::string> ending_;  // bounded likewise
  std::deque<OpenPrompt> storing_;   // in the order they were reported; bounded by the uncommitted events
};

}  // namespace relay::broker
