#include "hooks/codex_override.h"

#include "base/format.h"
#include "base/hash.h"

namespace relay::hooks {
namespace {

/// The file in which Codex records the settings of its command line.
constexpr std::string_view kCommandLine = "/<session-flags>/config.toml";
/// The timeout of a hook that sets none.
constexpr std::int64_t kDefaultSeconds = 600;

/// PreToolUse → pre_tool_use.
std::string label_of(std::string_view event) {
  std::string out;
  for (const char c : event) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty()) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

/// TOML basic strings and JSON strings have the same form when they contain no control characters, and `handler_for`
/// admits none.
std::string text(std::string_view value) { return json::serialize(json::string{value}); }

}  // namespace

std::string codex_hook_key(std::string_view file, std::string_view event, std::size_t group, std::size_t handler) {
  return format("{}:{}:{}:{}", file, label_of(event), group, handler);
}

std::string codex_trusted_hash(std::string_view event, const json::object& handler) {
  // Hashed as JSON with its keys in order and the defaults filled in.
  const auto seconds = integer_member(handler, "timeout").value_or(kDefaultSeconds);
  const json::object identity{
      {"event_name", label_of(event)},
      {"hooks", json::array{json::object{{"async", false},
                                         {"command", string_member(handler, "command").value_or("")},
                                         {"timeout", seconds},
                                         {"type", "command"}}}},
  };
  return "sha256:" + sha256_hex(json::serialize(identity));
}

Result<std::string> codex_override(std::string_view program, const std::vector<DisabledCodexHook>& disabled) {
  std::string hooks;
  std::string state;
  for (const auto& hook : hook_specs(AgentCli::Codex)) {
    const auto handler = RELAY_TRY(handler_for(AgentCli::Codex, hook, program));
    const auto command = string_member(handler, "command").value_or("");
    hooks +=
        format("{}=[{{hooks=[{{type=\"command\",command={},timeout={}}}]}}],", hook.event, text(command), hook.seconds);
    state += format("{}={{trusted_hash={}}},", text(codex_hook_key(kCommandLine, hook.event, 0, 0)),
                    text(codex_trusted_hash(hook.event, handler)));
  }
  for (const auto& hook : disabled) {
    state += format("{}={{enabled=false,trusted_hash={}}},", text(hook.key), text(hook.hash));
  }
  if (!state.empty()) state.pop_back();
  return format("hooks={{{}state={{{}}}}}", hooks, state);
}

}  // namespace relay::hooks
