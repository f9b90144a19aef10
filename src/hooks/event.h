/// One call of an agent's hook, as a value: what happened in the agent, in the same words for every agent.
///
/// Why: each agent sends its own JSON on a hook's stdin. Whoever acts on it (the host, the capture) should not know
///   whose it was.
/// Invariants: nothing here is fatal. A field of an unexpected kind, and every field we have no name for, is kept in
///   `rest`; an event we have no name for is `Other`. All strings are UTF-8 and bounded; what was too long is cut at a
///   letter. An event survives to_json and event_from unchanged.
/// Threading: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hooks/agent.h"

namespace relay::hooks {

inline constexpr std::size_t kMaxPayloadBytes = 16 << 20;  // of a hook's stdin
inline constexpr std::size_t kMaxNameBytes = 4096;         // names, ids, paths
inline constexpr std::size_t kMaxTextBytes = 256 * 1024;
inline constexpr std::size_t kMaxPromptBytes = 128 * 1024;
inline constexpr std::size_t kMaxToolInputBytes = 128 * 1024;
inline constexpr std::size_t kMaxToolResponseBytes = 64 * 1024;
inline constexpr std::size_t kMaxRestBytes = 16 * 1024;

enum class HookEventKind : std::uint8_t {
  SessionStart,
  Prompt,      // UserPromptSubmit, BeforeAgent
  BeforeTool,  // PreToolUse, BeforeTool
  AfterTool,   // PostToolUse, PostToolUseFailure, AfterTool
  Permission,  // PermissionRequest
  Notification,
  TurnEnd,     // Stop, AfterAgent
  TurnFailed,  // StopFailure
  Display,     // MessageDisplay
  Interrupt,
  SessionEnd,
  Other,
};
std::string_view name_of(HookEventKind kind);
std::optional<HookEventKind> parse_event_kind(std::string_view name);

struct HookEvent {
  AgentCli agent = AgentCli::Claude;
  HookEventKind kind = HookEventKind::Other;
  std::string name = {};  // as the agent calls it
  std::string session = {};
  std::string transcript = {};  // path of the agent's own record
  std::string working_directory = {};
  std::string turn = {};      // Claude's prompt_id, Codex' turn_id; Gemini has none
  std::string subagent = {};  // empty: the agent itself
  std::string prompt = {};
  std::string tool = {};
  std::string tool_use_id = {};
  std::string tool_input = {};     // JSON text; no longer JSON when it was cut
  std::string tool_response = {};  // JSON text, perhaps cut
  std::string text = {};           // the turn's last words, a piece of them (Display), or what a notification says
  std::string reason = {};         // why it started, ended, failed; which notification
  std::string model = {};
  std::string permission_mode = {};
  bool tool_input_cut = false;
  bool text_cut = false;
  bool stop_active = false;  // the turn goes on because a hook at its end wanted it
  bool final = false;        // Display: the last piece
  json::object extra = {};   // what we have no name for, as far as it fits kMaxRestBytes

  friend bool operator==(const HookEvent&, const HookEvent&) = default;
};

/// The error is one sentence. Bytes that are no UTF-8 and halves of surrogate pairs (programs cut strings in two) are
/// read as U+FFFD.
Result<HookEvent> parse_event(AgentCli agent, std::string_view payload);

json::object to_json(const HookEvent& event);
Result<HookEvent> event_from(const json::object& object);

/// The event as JSON text of at most `max_bytes` (no less than kLeastSerializedBytes); its longest texts are cut until
/// it fits. Escapes can make a text six times as long, so the limits above alone promise little about a frame.
inline constexpr std::size_t kMinSerializedBytes = 384 * 1024;
std::string serialize_within(HookEvent event, std::size_t max_bytes);

}  // namespace relay::hooks
