#include "session/session_runner.h"

#include <exception>
#include <utility>

#include "base/format.h"
#include "protocol/requests.h"
#include "text/json_writer.h"

namespace relay::session {
namespace {

using protocol::MessageType;
using protocol::ReceiptStatus;

constexpr std::string_view kVia = "callback";

/// To whom it was addressed, which need not be us by name.
std::string address_of(const client::IncomingMessage& incoming) {
  if (incoming.envelope.type == MessageType::ChannelMessage)
    if (auto post = protocol::parse_channel_message(incoming.envelope.payload)) return std::move(post->channel);
  return incoming.delivery.original_to.empty() ? std::string{incoming.envelope.to} : incoming.delivery.original_to;
}

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::Starting: return "starting";
    case Status::Active: return "active";
    case Status::Idle: return "idle";
    case Status::Waiting: return "waiting";
    case Status::Blocked: return "blocked";
    case Status::Paused: return "paused";
  }
  std::unreachable();
}

SessionRunner::SessionRunner(net::EventLoop& loop, AgentSession& session, RunnerOptions options)
    : loop_{loop}, session_{session}, options_{std::move(options)} {}

SessionRunner::~SessionRunner() = default;

Result<std::unique_ptr<SessionRunner>> SessionRunner::create(net::EventLoop& loop, net::Network& network,
                                                             Random& random, client::Outbox& outbox,
                                                             RunnerOptions options, AgentSession& session) {
  const auto identity = session.identity();
  const auto contract = session.capabilities();
  RELAY_TRY(protocol::check_agent_name(identity.name));
  auto link = std::move(options.link);
  link.hello.agent = identity.name;
  if (identity.kind == protocol::AgentKind::Human) link.hello.entity = protocol::EntityType::User;
  link.hello.capabilities.receipts = true;
  RELAY_TRY(protocol::declare(contract, link.hello.capabilities));
  std::unique_ptr<SessionRunner> runner{new SessionRunner{loop, session, std::move(options)}};
  runner->name_ = identity.name;
  runner->modes_ = contract.delivery.modes;
  client::LinkListener& listener = *runner;
  runner->link_ = std::make_unique<client::Link>(loop, network, random, outbox, std::move(link), listener);
  return runner;
}

void SessionRunner::start() { link_->start(); }

void SessionRunner::release(const std::string& reason) {
  if (std::exchange(released_, true)) return;
  for (auto& [id, pending] : std::exchange(unsettled_, {})) {
    MessageReceipt last{.via = std::string{kVia}};
    if (pending.answered) {
      last.status = ReceiptStatus::Deferred;
      last.reason = format("its session was released: {}", reason);
      last.available_at = loop_.now().wall;
    } else {
      last.status = ReceiptStatus::InDoubt;
      last.reason = format("its session was released before the callback reported a result: {}", reason);
    }
    link_->report({.id = id}, std::move(last));
  }
  link_->stop();
  session_.release(reason);
}

// ---- messages for the session

client::AckMode SessionRunner::on_incoming(const client::IncomingMessage& incoming) {
  const auto& envelope = incoming.envelope;
  const auto to = address_of(incoming);
  const auto& message_id = incoming.delivery.message_id;
  const auto message = protocol::message_from({.id = message_id.empty() ? envelope.id : std::string_view{message_id},
                                               .from = envelope.from,
                                               .to = to,
                                               .payload = envelope.payload,
                                               .at = envelope.ts,
                                               .workspace_id = options_.workspace_id});
  const auto context =
      protocol::context_from(incoming.ref.id, incoming.delivery, envelope.payload_meta, message, name_);
  if (modes_.has(context.mode))
    deliver_to_session(message, context);
  else
    send_receipt(context.id, {.status = ReceiptStatus::Failed,
                              .reason = format("{} does not take messages for '{}'", name_, name_of(context.mode)),
                              .code = std::string{name_of(protocol::NackCode::Unsupported)}});
  return client::AckMode::Later;
}

void SessionRunner::deliver_to_session(const RelayMessage& message, const MessageContext& context) {
  const auto call = ++calls_;
  auto& pending = unsettled_[context.id];
  pending.call = call;
  pending.answered = false;
  pending.timeout = loop_.after(options_.receipt_timeout, [this, id = context.id] { report_timeout(id); });
  try {
    session_.receive_message(message, context,
                             [this, alive = lifetime_.watch(), id = context.id, call](MessageReceipt receipt) {
                               if (alive) answer(id, call, std::move(receipt));
                             });
  } catch (const std::exception& thrown) {
    answer(context.id, call,
           {.status = ReceiptStatus::Failed,
            .reason = format("the session failed: {}", thrown.what()),
            .retryable = true});
  }
}

/// The message may be partly handled: it stays with the session, whose result settles it.
void SessionRunner::report_timeout(const std::string& id) {
  const auto seconds = static_cast<double>(options_.receipt_timeout.count()) / 1'000;
  link_->report({.id = id}, {.status = ReceiptStatus::Deferred,
                             .reason = format("the callback has not reported a result for {:g} s", seconds),
                             .via = std::string{kVia}});
}

void SessionRunner::answer(const std::string& id, std::uint64_t call, MessageReceipt receipt) {
  const auto found = unsettled_.find(id);
  if (found == unsettled_.end() || found->second.call != call || found->second.answered) return;
  send_receipt(id, std::move(receipt));
}

void SessionRunner::report(const std::string& delivery_id, MessageReceipt receipt) {
  if (!released_) send_receipt(delivery_id, std::move(receipt));
}

void SessionRunner::send_receipt(const std::string& id, MessageReceipt receipt) {
  if (receipt.via.empty()) receipt.via = kVia;
  if (receipt.status == ReceiptStatus::Delivered && receipt.proof.empty()) receipt.proof = "accepted";
  if (receipt.status == ReceiptStatus::Failed && receipt.reason.empty()) receipt.reason = "the session refused it";
  if (const auto found = unsettled_.find(id); found != unsettled_.end()) {
    found->second.answered = true;
    found->second.timeout.reset();
    if (!protocol::keeps_delivery(receipt)) unsettled_.erase(found);
  }
  link_->report({.id = id}, std::move(receipt));
}

void SessionRunner::on_moved(const client::DeliveryRef& ref, protocol::DeliveryMode mode) {
  session_.on_moved(ref.id, mode);
}

bool SessionRunner::on_cancel(const protocol::CancelCommand& command) {
  if (!session_.on_cancel(command)) return false;
  unsettled_.erase(command.delivery_id);
  return true;
}

void SessionRunner::on_pause(const protocol::PauseCommand& command) { session_.on_pause(command); }

// ---- the state and the messages of the session

void SessionRunner::set_status(Status status, std::string reason) {
  status_ = status;
  status_reason_ = std::move(reason);
  if (link_->ready()) (void)report_status();
}

Result<void> SessionRunner::report_status(std::string_view boundary) {
  text::JsonWriter payload;
  payload.field("state", name_of(*status_)).optional("reason", status_reason_).optional("boundary", boundary);
  return link_->send_frame(MessageType::SessionState, payload.take());
}

Result<void> SessionRunner::before_next_message(OnBoundary on_reached) {
  return report_boundary("message", std::move(on_reached));
}

Result<void> SessionRunner::before_next_tool_call(OnBoundary on_reached) {
  return report_boundary("tool-call", std::move(on_reached));
}

Result<void> SessionRunner::report_boundary(std::string_view boundary, OnBoundary on_reached) {
  // Without a state `on-idle` messages are always delivered; a boundary would set one.
  if (!status_) return fail("a session that reports boundaries needs a status; call set_status first");
  RELAY_TRY(report_status(boundary));
  if (!on_reached) return {};
  // A response of the daemon covers everything that was sent before the request.
  link_->request(MessageType::Status, "{}", [reached = std::move(on_reached)](const auto&) mutable { reached(); });
  return {};
}

Result<std::string> SessionRunner::send(const MessageDraft& draft, const protocol::DeliveryOptions& options) {
  return link_->send(RELAY_TRY(encode_draft(draft, options)));
}

void SessionRunner::on_acknowledged(const protocol::Ack& ack) { session_.on_stored(ack); }

void SessionRunner::on_refused(const std::string& id, const protocol::Nack& why) {
  session_.on_receipt({.status = ReceiptStatus::Failed, .message_id = id, .reason = why.message, .code = why.code});
}

// ---- the link

void SessionRunner::on_ready(const client::Session&) {
  if (status_) (void)report_status();
  session_.on_connected();
}

void SessionRunner::on_lost(const std::string& reason, Millis) { session_.on_lost(reason); }

void SessionRunner::on_stopped(const Error& why) {
  if (std::exchange(released_, true)) return;
  unsettled_.clear();
  session_.release(why.message());
}

void SessionRunner::on_frame(const protocol::Envelope& envelope) {
  if (envelope.type == MessageType::Receipt) {
    if (const auto receipt = protocol::parse_receipt(envelope.payload)) return session_.on_receipt(*receipt);
  }
  session_.on_frame(envelope);
}

}  // namespace relay::session
