/// One call of an agent's hook as a value, in the same terms for every agent.
///
/// Why: each agent sends its own JSON on a hook's stdin. The code that acts on it (the host, the capture) should not
///   depend on the agent.
/// Invariants: no payload is fatal. A field of an unexpected kind, and every unknown field, is stored in `extra`; an
///   unknown event is `Other`. All strings are UTF-8 and bounded; longer ones are truncated at a character. An event is
///   unchanged by to_json and event_from.
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
  std::string name = {};  // the agent's name for the event
  std::string session = {};
  std::string transcript = {};  // path of the agent's transcript
  std::string working_directory = {};
  std::string turn = {};      // Claude's prompt_id, Codex' turn_id; Gemini has none
  std::string subagent = {};  // empty: the agent itself
  std::string prompt = {};
  std::string tool = {};
  std::string tool_use_id = {};
  std::string tool_input = {};     // JSON text; no longer JSON when it was cut
  std::string tool_response = {};  // JSON text, possibly cut
  std::string text = {};           // the turn's final text, a part of it (Display), or a notification's text
  std::string reason = {};         // why it started, ended, failed; which notification
  std::string model = {};
  std::string permission_mode = {};
  bool tool_input_cut = false;
  bool text_cut = false;
  bool stop_active = false;  // a hook at the end of the turn made it continue
  bool final = false;        // Display: the last part
  json::object extra = {};   // unknown fields, as far as they fit kMaxRestBytes

  friend bool operator==(const HookEvent&, const HookEvent&) = default;
};

/// The error message is one sentence. Malformed UTF-8 and halves of surrogate pairs (from strings that a program cut in
/// two) are read as U+FFFD.
Result<HookEvent> parse_event(AgentCli agent, std::string_view payload);

json::object to_json(const HookEvent& event);
Result<HookEvent> event_from(const json::object& object);

/// The event as JSON text of at most `max_bytes` (at least kMinSerializedBytes); its largest texts are cut until it
/// fits. Escapes can make a text six times as long, so the limits above do not bound the size in a frame.
inline constexpr std::size_t kMinSerializedBytes = 384 * 1024;
std::string serialize_within(HookEvent event, std::size_t max_bytes);

}  // namespace relay::hooks
