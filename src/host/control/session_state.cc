#include "host/control/session_state.h"

#include <utility>

#include "base/format.h"
#include "host/delivery/intent_log.h"
#include "text/json_writer.h"

namespace relay::host {
namespace {

using profiles::State;

static_assert(IntentLog::kMaxIntents >= kMaxDeliveries, "the intent log has room for every unsettled delivery");

/// The name of a state in SESSION_STATE, the same for all kinds of sessions.
std::string_view session_state_name(State state, bool starting) {
  return state == State::Working ? "active" : displayed_state_name(state, starting);
}

}  // namespace

std::string_view displayed_state_name(State state, bool starting) {
  return state == State::Unknown && starting ? "starting" : name_of(state);
}

protocol::Hello make_hello(const HostRecord& record, const std::string& claim_token, protocol::DeliveryModes modes) {
  protocol::Hello hello;
  hello.agent = record.name;
  hello.cli = record.cli;
  hello.program = record.cli;
  hello.model = record.model;
  hello.task = record.task;
  hello.version = record.version;
  hello.permission_mode = record.permission_mode;
  hello.team = record.team;
  hello.working_directory = record.working_directory;
  hello.claim_token = claim_token;
  hello.capabilities.max_inflight = kMaxDeliveries;
  hello.capabilities.modes = modes;
  hello.capabilities.queue = true;
  hello.capabilities.pause = true;
  return hello;
}

std::string session_state(State state, bool starting, std::string_view reason, std::string_view capabilities,
                          std::optional<protocol::DeliveryModes> modes) {
  text::JsonWriter payload;
  payload.field("state", session_state_name(state, starting))
      .optional("reason", reason)
      .raw("capabilities", capabilities);
  if (modes) {
    payload.begin_array("modes");
    for (const auto mode : protocol::kDeliveryModes)
      if (modes->has(mode)) payload.element(protocol::name_of(mode));
    payload.end();
  }
  return payload.take();
}

protocol::Bye make_bye(const pty::ExitStatus& status, const std::optional<ReleaseAgent>& released) {
  if (released) return {.end = protocol::EndReason::Released, .by = released->by, .reason = released->reason};
  if (status.shell_code() == 0) return {};
  return {.end = protocol::EndReason::Crashed, .reason = status.describe()};
}

std::string input_blocked_reason(State state, std::string_view name) {
  switch (state) {
    case State::Idle: return {};
    case State::Blocked:
      return format(
          "{} shows a dialog, and text with Enter would answer it; see it with `agent-relay attach {}`, or "
          "send keys with --key",
          name, name);
    case State::Typing:
      return format("{}'s composer holds a draft, and the text would become part of it; send keys with --key", name);
    case State::Working:
      return format("{} is working; wait with `agent-relay wait {}`, or send a message with `agent-relay send`", name,
                    name);
    case State::Unknown: return format("{} may not be ready yet; see it with `agent-relay attach {}`", name, name);
  }
  std::unreachable();
}

}  // namespace relay::host
