#include "host/daemon_session.h"

#include "base/format.h"
#include "base/log.h"
#include "host/adapter_bridge.h"
#include "host/agent_state.h"
#include "host/agent_updater.h"
#include "host/command_executor.h"
#include "host/command_feedback.h"
#include "host/control/host_server.h"
#include "host/control/session_state.h"
#include "host/delivery/pipeline.h"
#include "host/event_reporter.h"
#include "host/session_end.h"

namespace relay::host {
namespace {

constexpr Millis kStoreTimeout{2'000};  // for the daemon to store a prompt before `blocked` becomes visible

}  // namespace

DaemonSession::DaemonSession(net::EventLoop& loop, net::Network& network, Random& random, client::Outbox& outbox,
                             client::LinkOptions options, Parts parts)
    : loop_{loop},
      agent_{options.hello.agent},
      parts_{parts},
      link_{std::make_unique<client::Link>(loop, network, random, outbox, std::move(options), *this)} {}

void DaemonSession::start(OnAdmitted on_admitted) {
  on_admitted_ = std::move(on_admitted);
  link_->start();
}

void DaemonSession::report(const client::DeliveryRef& delivery, protocol::Receipt receipt) {
  log::debug("delivery step", {{"agent", agent_},
                               {"delivery", delivery.id},
                               {"status", std::string{protocol::name_of(receipt.status)}},
                               {"proof", receipt.proof},
                               {"via", receipt.via},
                               {"evidence", receipt.evidence},
                               {"reason", receipt.reason}});
  link_->report(delivery, std::move(receipt));
}

void DaemonSession::report_event(events::Event event, WallMs at) {
  const auto* permission = std::get_if<events::PermissionRequested>(&event);
  if (permission != nullptr && !is_ready())
    loop_.post([this, alive = lifetime_.watch(), request = permission->request_id] {
      if (alive) parts_.adapter.show_dialog(request);
    });
  if (permission != nullptr || std::holds_alternative<events::QuestionRequested>(event))
    store_due_ = loop_.now().steady + kStoreTimeout;
  parts_.reporter.report(std::move(event), at);
}

std::optional<SteadyTime> DaemonSession::storing_until(SteadyTime now) const {
  if (now >= store_due_ || !is_ready() || !parts_.reporter.is_storing_request()) return std::nullopt;
  return store_due_;
}

void DaemonSession::report_changes() {
  const bool cleared = !pending_reason_.empty() && parts_.pipeline.pending_reason().empty();
  if (std::exchange(state_changed_, false) || cleared || parts_.pipeline.lasting_reason() != lasting_reason_)
    report_state();
}

void DaemonSession::report_state() {
  if (!is_ready()) return;
  pending_reason_ = parts_.pipeline.pending_reason();
  lasting_reason_ = parts_.pipeline.lasting_reason();
  const auto state = parts_.state.visible(loop_.now().steady);
  log::debug("state reported", {{"agent", agent_},
                                {"state", std::string{profiles::name_of(state)}},
                                {"pending", pending_reason_},
                                {"interfaces", parts_.adapter.capability_codes()}});
  const auto modes = parts_.adapter.modes();
  const auto changed = std::exchange(reported_modes_, modes) == modes ? std::nullopt : std::optional{modes};
  (void)link_->send_frame(
      protocol::MessageType::SessionState,
      session_state(state, parts_.state.is_starting(), pending_reason_, parts_.adapter.capability_codes(), changed));
}

void DaemonSession::on_ready(const client::Session& session) {
  if (auto admitted = std::exchange(on_admitted_, nullptr)) admitted({});
  reported_modes_.reset();  // HELLO has those of the start
  parts_.pipeline.on_connected(loop_.now().steady);
  parts_.updater.update_soon();
  report_state();
  parts_.reporter.report_again(parts_.adapter.requests(), session.id, loop_.now().wall);
  parts_.executor.on_ready();
  parts_.end.leave_if_done();  // after the pending messages
}

void DaemonSession::on_lost(const std::string&, Millis) {
  release_state();
  parts_.end.leave_if_done();
}

/// The screen belongs to the agent, so the error is printed at the end, and in `explain`.
void DaemonSession::on_stopped(const Error& why) {
  error_ = why.message();
  parts_.end.leave_if_done();
  if (auto admitted = std::exchange(on_admitted_, nullptr)) {  // spawned under a name it cannot have
    admitted(Failure{why});
    return parts_.end.end_program();
  }
  parts_.executor.on_stopped(error_);
  parts_.feedback.on_command_failed(format("you are no longer connected to the other agents: {}", error_));
}

client::AckMode DaemonSession::on_incoming(const client::IncomingMessage& incoming) {
  const auto message = parts_.pipeline.receive(incoming, loop_.now().wall);
  text::JsonWriter event;
  event.field("event", "message").field("id", message.id).field("from", message.from);
  parts_.server.on_event(event.take());
  parts_.updater.update_soon();
  return client::AckMode::Later;
}

void DaemonSession::on_moved(const client::DeliveryRef& delivery, protocol::DeliveryMode mode) {
  parts_.pipeline.move(delivery, mode);
  parts_.server.on_event(R"({"event":"message"})");  // it may be fetched now
  parts_.updater.update_soon();
}

bool DaemonSession::on_cancel(const protocol::CancelCommand& command) {
  parts_.updater.update_soon();  // the next delivery may take its place
  return parts_.pipeline.cancel(command.delivery_id);
}

void DaemonSession::on_pause(const protocol::PauseCommand& command) {
  parts_.pipeline.pause(command);
  parts_.server.on_event(pause_event(command));
  parts_.updater.update_soon();
}

void DaemonSession::on_event_acked() {
  if (parts_.reporter.report_gap(loop_.now().wall))
    parts_.reporter.report_again(parts_.adapter.requests(), link_->session().id, loop_.now().wall);
  release_state();
}

void DaemonSession::release_state() {
  if (!parts_.end.has_exited() && parts_.state.has_changed(loop_.now().steady)) parts_.updater.update_soon();
}

void DaemonSession::on_sent(const std::string& id) {
  parts_.executor.on_sent(id);
  parts_.pipeline.reset_notices();
  parts_.end.leave_if_done();
}

void DaemonSession::on_refused(const std::string& id, const protocol::Nack& why) {
  parts_.executor.on_refused(id);
  parts_.feedback.on_command_failed(why.message);
  parts_.end.leave_if_done();
}

void DaemonSession::on_frame(const protocol::Envelope& envelope) {
  if (envelope.type != protocol::MessageType::Receipt) return;
  if (const auto receipt = protocol::parse_receipt(envelope.payload)) parts_.executor.on_receipt(*receipt);
}

std::string pause_event(const protocol::PauseCommand& command) {
  text::JsonWriter event;
  event.field("event", "pause").field("paused", command.paused).optional("reason", command.reason);
  return event.take();
}

}  // namespace relay::host
