#include "hooks/hook_specs.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace relay::hooks {
namespace {

/// The relay's part of a hook takes milliseconds and waits at most two seconds for a host; the rest allows for a loaded
/// machine.
constexpr int kHookTimeoutSeconds = 10;
/// Claude shows its dialog while the hook waits and the first answer wins, so the hook may wait for the user.
constexpr int kADaySeconds = 24 * 60 * 60;
/// Codex shows its dialog only after the hook: the host waits two seconds for the user, and longer only where there is
/// no user at the terminal.
constexpr int kCodexPermissionSeconds = 35;
/// An ending agent waits for this hook while it still owns the terminal; Codex allows no more.
constexpr int kEndSeconds = 3;

constexpr std::array kClaude{
    HookSpec{"SessionStart", kHookTimeoutSeconds}, HookSpec{"UserPromptSubmit", kHookTimeoutSeconds},
    HookSpec{"PreToolUse", kHookTimeoutSeconds},   HookSpec{"PostToolUse", kHookTimeoutSeconds},
    HookSpec{"PermissionRequest", kADaySeconds},   HookSpec{"Notification", kHookTimeoutSeconds},
    HookSpec{"Stop", kHookTimeoutSeconds},         HookSpec{"StopFailure", kHookTimeoutSeconds},
    HookSpec{"SessionEnd", kEndSeconds},
};
constexpr std::array kClaudeStreaming{HookSpec{"MessageDisplay", kHookTimeoutSeconds, true}};
constexpr std::array kCodex{
    HookSpec{"SessionStart", kHookTimeoutSeconds},
    HookSpec{"UserPromptSubmit", kHookTimeoutSeconds},
    HookSpec{"PreToolUse", kHookTimeoutSeconds},
    HookSpec{"PostToolUse", kHookTimeoutSeconds},
    HookSpec{"PermissionRequest", kCodexPermissionSeconds},
    HookSpec{"Stop", kHookTimeoutSeconds},
    HookSpec{"SessionEnd", kEndSeconds},
};
constexpr std::array kGemini{
    HookSpec{"SessionStart", kHookTimeoutSeconds}, HookSpec{"BeforeAgent", kHookTimeoutSeconds},
    HookSpec{"BeforeTool", kHookTimeoutSeconds},   HookSpec{"AfterTool", kHookTimeoutSeconds},
    HookSpec{"Notification", kHookTimeoutSeconds}, HookSpec{"AfterAgent", kHookTimeoutSeconds},
    HookSpec{"SessionEnd", kEndSeconds},
};

constexpr std::string_view kProgramName = "agent-relay";

/// One word for a POSIX shell, for any content.
std::string quoted(std::string_view word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

/// The inverse of `quoted`; empty for any other text.
std::string unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') return {};
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\'') {
      out += text[i];
    } else if (text.substr(i, 4) == "'\\''") {
      out += '\'';
      i += 3;
    } else {
      return {};
    }
  }
  return out;
}

bool is_our_program(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash != std::string_view::npos && path.substr(slash + 1) == kProgramName;
}

Result<void> check_path(AgentCli agent, std::string_view program) {
  if (!program.starts_with('/')) return fail(format("the program {} has no absolute path", program));
  if (std::ranges::any_of(program, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    return fail("the path of agent-relay has control characters in it; move the program");
  }
  // Gemini replaces $NAME in every string of its settings, quoted or not.
  if (agent == AgentCli::Gemini && program.contains('$')) {
    return fail(format("the path {} has a $ in it, which Gemini CLI would replace; move the program", program));
  }
  return {};
}

}  // namespace

std::span<const HookSpec> hook_specs(AgentCli agent) {
  switch (agent) {
    case AgentCli::Claude: return kClaude;
    case AgentCli::Codex: return kCodex;
    case AgentCli::Gemini: return kGemini;
  }
  return {};
}

std::span<const HookSpec> streaming_hooks(AgentCli agent) {
  if (agent == AgentCli::Claude) return kClaudeStreaming;
  return {};
}

Result<json::object> handler_for(AgentCli agent, const HookSpec& hook, std::string_view program) {
  RELAY_TRY(check_path(agent, program));
  const auto line = format("{} hook {}", quoted(program), name_of(agent));
  switch (agent) {
    case AgentCli::Claude: {
      json::object handler{{"type", "command"},
                           {"command", program},
                           {"args", json::array{"hook", name_of(agent)}},
                           {"timeout", hook.seconds}};
      if (hook.async) handler["async"] = true;
      return handler;
    }
    case AgentCli::Codex: return json::object{{"type", "command"}, {"command", line}, {"timeout", hook.seconds}};
    case AgentCli::Gemini:
      return json::object{
          {"name", kProgramName}, {"type", "command"}, {"command", line}, {"timeout", hook.seconds * 1000}};
  }
  return json::object{};
}

Result<json::object> hooks_for(AgentCli agent, std::string_view program, HookScope scope) {
  json::object hooks;
  const auto add = [&](std::span<const HookSpec> wanted) -> Result<void> {
    for (const auto& hook : wanted) {
      auto handler = RELAY_TRY(handler_for(agent, hook, program));
      hooks[hook.event] = json::array{json::object{{"hooks", json::array{std::move(handler)}}}};
    }
    return {};
  };
  RELAY_TRY(add(hook_specs(agent)));
  if (scope == HookScope::Run) RELAY_TRY(add(streaming_hooks(agent)));
  return hooks;
}

std::string program_of(AgentCli agent, const json::value& handler) {
  if (!handler.is_object()) return {};
  const auto command = string_member(handler.get_object(), "command");
  if (!command) return {};
  if (agent == AgentCli::Claude) {
    const auto* arguments = array_member(handler.get_object(), "args");
    const json::array expected{"hook", name_of(agent)};
    return arguments != nullptr && *arguments == expected && is_our_program(*command) ? *command : std::string{};
  }
  const auto tail = format(" hook {}", name_of(agent));
  if (!command->ends_with(tail)) return {};
  const auto program = unquoted(std::string_view{*command}.substr(0, command->size() - tail.size()));
  return is_our_program(program) ? program : std::string{};
}

}  // namespace relay::hooks
