#include "host/control/client_requests.h"

#include "adapters/launch_facts.h"
#include "base/format.h"
#include "base/log.h"
#include "host/agent_commands.h"
#include "host/agent_state.h"
#include "host/agent_updater.h"
#include "host/control/session_state.h"
#include "host/daemon_session.h"
#include "host/prompts/dialog_driver.h"
#include "host/screen/terminal_relay.h"
#include "host/session_end.h"

namespace relay::host {

const terminal::Screen& ClientRequests::screen() const { return parts_.monitor.screen(); }

void ClientRequests::describe(text::JsonWriter& answer) const {
  write_record(answer, parts_.record);
  answer.field("state", displayed_state_name(parts_.state.visible(loop_.now().steady), parts_.state.is_starting()));
}

void ClientRequests::describe_state(text::JsonWriter& answer) const {
  auto visible = status();
  visible.state = parts_.state.visible(loop_.now().steady);
  write_state(answer, visible);
}

void ClientRequests::explain(text::JsonWriter& answer) const { write_status(answer, status()); }

HostStatus ClientRequests::status() const {
  const auto now = loop_.now();
  return {.record = parts_.record,
          .monitor = parts_.monitor,
          .adapter = parts_.adapter,
          .pipeline = parts_.pipeline,
          .reporter = parts_.reporter,
          .state = parts_.state.current(),
          .since = parts_.state.since(now.steady),
          .blocker = parts_.state.blocker(),
          .now = now,
          .last_input = parts_.input.typing().any,
          .held_keys = parts_.input.describe_held(),
          .attended = parts_.terminal.user() != nullptr,
          .connected = parts_.session.is_ready(),
          .unread_reason = parts_.commands.unread_reason(),
          .error = parts_.session.error()};
}

void ClientRequests::describe_prompts(text::JsonWriter& answer) const {
  parts_.adapter.describe_prompts(answer, loop_.now().wall);
}

std::string ClientRequests::no_terminal_reason() const {
  if (!parts_.record.headless) return {};
  return format(
      "{} runs without a terminal: its output goes to its caller, and nothing can be typed to it; send a message with "
      "`agent-relay send`, which uses the agent's native interfaces",
      parts_.record.name);
}

void ClientRequests::client_input(std::string_view bytes) { parts_.terminal.type(bytes); }

void ClientRequests::client_text(const std::string& text, OnDone done) {
  parts_.updater.update();
  if (parts_.pipeline.busy()) return done(fail("another text is being typed; try again in a second"));
  if (auto reason = input_blocked_reason(parts_.monitor.state(), parts_.record.name); !reason.empty())
    return done(fail(std::move(reason)));
  parts_.pipeline.inject_user_text(text, loop_.now().steady, std::move(done));
  parts_.updater.update_soon();
}

/// The user's terminal sets the size while there is one.
void ClientRequests::client_resize(pty::WindowSize size) {
  if (parts_.terminal.user() == nullptr) parts_.terminal.resize(size);
}

void ClientRequests::client_release(const ReleaseAgent& request) {
  log::info("released", {{"by", request.by}, {"reason", request.reason}});
  parts_.end.release(request);
}

void ClientRequests::hook_called(const hooks::HookEvent& event, std::uint64_t call,
                                 adapters::Adapter::HookReply reply) {
  auto& mode = parts_.record.permission_mode;
  if (!event.permission_mode.empty()) mode = adapters::mode_after_hook(profile_.name, mode, event.permission_mode);
  parts_.adapter.on_hook(event, call, std::move(reply));
}

void ClientRequests::hook_disconnected(std::uint64_t call) { parts_.adapter.on_hook_closed(call); }

void ClientRequests::fetch_messages(const FetchMessages& request, text::JsonWriter& answer) {
  parts_.pipeline.fetch(request, answer);
  loop_.post([this, alive = lifetime_.watch()] {  // the server has sent the response by then
    if (!alive) return;
    parts_.pipeline.on_fetched();
    parts_.updater.update();
  });
}

void ClientRequests::answer_prompt(const AnswerPrompt& request, OnDone done) {
  if (parts_.end.has_exited()) return done(fail(protocol::NackCode::Stale, "the agent has ended"));
  if (!parts_.adapter.on_screen_alone(request)) return parts_.adapter.answer(request, std::move(done));
  if (request.reply.decision == adapters::PromptAnswer::Decision::Deny && !request.reply.message.empty())
    return done(
        fail(protocol::NackCode::Unsupported,
             format("{0}'s dialog accepts no message, and nothing was answered; deny it without one, and send the "
                    "reason with: agent-relay send {0} TEXT",
                    parts_.record.name)));
  parts_.updater.update();
  parts_.answers.start(request, parts_.updater.answer_view(), std::move(done));
  parts_.updater.update_soon();
}

void ClientRequests::show_dialog(const std::string& prompt) { parts_.adapter.show_dialog(prompt); }

}  // namespace relay::host
