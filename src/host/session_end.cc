#include "host/session_end.h"

#include <utility>

#include "base/log.h"
#include "host/adapter_bridge.h"
#include "host/agent_commands.h"
#include "host/agent_updater.h"
#include "host/command_executor.h"
#include "host/control/ended_sessions.h"
#include "host/control/host_server.h"
#include "host/control/session_state.h"
#include "host/daemon_session.h"
#include "host/delivery/pipeline.h"
#include "host/prompts/dialog_driver.h"
#include "host/screen/terminal_relay.h"

namespace relay::host {
namespace {

constexpr Millis kEndGrace{5'000};
constexpr Millis kLastOutputDelay{250};  // for the transcript after the agent's exit
constexpr Millis kByeTimeout{2'000};     // for a pending handshake or pending acks

}  // namespace

void SessionEnd::observe(std::function<void()> on_exit, std::function<void()> on_finished) {
  on_exit_ = std::move(on_exit);
  on_finished_ = std::move(on_finished);
}

void SessionEnd::release(ReleaseAgent request) {
  if (!released_) released_ = std::move(request);
  end_program();
}

void SessionEnd::end_program() { parts_.terminal.program().end(kEndGrace); }

void SessionEnd::on_exit(const pty::ExitStatus& status) {
  if (on_exit_) on_exit_();
  status_ = status;
  exited_ = true;
  parts_.updater.finish();
  parts_.commands.finish();
  if (auto* const user = parts_.terminal.user()) user->leave_raw();
  parts_.answers.on_agent_exit();
  parts_.server.on_exit(status.shell_code());
  bye_ = make_bye(status, released_);
  bye_.ended_at = loop_.now().wall;
  const bool has_transcript = !parts_.adapter.capabilities().output.empty();
  timer_ = loop_.after(has_transcript ? kLastOutputDelay : Millis{0}, [this] { start_leaving(); });
}

void SessionEnd::start_leaving() {
  parts_.pipeline.on_agent_exit();
  parts_.adapter.on_agent_exit();
  leaving_ = true;
  parts_.session.link().retry_now();
  if (!is_in_handshake() && !awaits_acks()) return leave();
  timer_ = loop_.after(kByeTimeout, [this] { leave(); });
}

/// The agent's last messages should be stored before the BYE.
bool SessionEnd::awaits_acks() const { return parts_.session.is_ready() && parts_.executor.has_unacknowledged(); }

bool SessionEnd::is_in_handshake() const {
  const auto state = parts_.session.link().state();
  return state == client::LinkState::Connecting || state == client::LinkState::Handshaking;
}

void SessionEnd::leave_if_done() {
  if (leaving_ && !awaits_acks())
    loop_.post([this, alive = lifetime_.watch()] {
      if (alive) leave();
    });
}

void SessionEnd::leave() {
  if (!std::exchange(leaving_, false)) return;
  write_record();
  parts_.session.link().stop(bye_);
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive && on_finished_) on_finished_();
  });
}

/// The daemon may be offline, or die before it has stored the BYE. It removes the record once the end is durable.
void SessionEnd::write_record() {
  const auto& link = parts_.session.link();
  if (link.session().id.empty()) return;
  protocol::EndedSession ended{.agent = agent_, .session = link.session().id, .bye = bye_, .events = {}};
  for (const auto& event : link.pending_events()) ended.events.push_back({event.id, event.payload});
  if (const auto written = write_ended_session(records_, ended); !written)
    log::warn("cannot record the end of the session", {{"error", written.error().message()}});
}

}  // namespace relay::host
