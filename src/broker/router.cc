#include "broker/router.h"

#include <algorithm>

#include "base/format.h"
#include "broker/lanes.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;
using records::FrameKind;

namespace {

/// Not the silent kinds: they do not wake an agent, and no agent answers them.
bool wakes(std::string_view kind) { return kind != "state" && kind != "ack"; }

/// The message for the loop breaker.
LoopBreaker::Sent loop_view(const SendContext& sending, const Audience& audience) {
  // Published clients mark a question and its answer in `data`.
  const bool is_request = (sending.meta.sync && sending.meta.sync->blocking) ||
                          sending.view.data.find("\"_correlationId\"") != std::string_view::npos;
  const bool by_user = sends_as_user(sending.connection, sending.from.value()) ||
                       (sending.sender != nullptr && sending.sender->record->entity == protocol::EntityType::User);
  const bool for_user =
      !audience.empty() && std::ranges::all_of(audience, [](const AgentState* to) { return represents_user(*to); });
  return {.from = by_user ? std::string_view{} : std::string_view{sending.from.value()},
          .to = sending.to,
          .body = sending.view.body,
          .reply_to = sending.meta.reply_to,
          .thread = sending.view.thread,
          .counts = wakes(sending.view.kind_name) && !is_request && !for_user};
}

}  // namespace

void Router::on_one_shot_send(ConnectionState& connection, const protocol::Envelope& envelope,
                              std::size_t frame_bytes) {
  if (envelope.from.empty() || envelope.to.empty())
    return connections_.send_error(connection, ErrorCode::BadRequest,
                                   "SEND before HELLO: send HELLO first, or give both 'from' and 'to'");
  connections_.set_phase(connection, Phase::OneShot);
  authority_.check_system_token(connection, envelope.claim_token);
  if (const auto rejected = one_shot_.check(connection, envelope.from, envelope.claim_token))
    return replies_.refuse(connection, envelope.id, rejected->code, rejected->message, rejected->retry_after_ms);
  AgentState& sender = one_shot_.add(envelope.from);
  if (!sender.connected()) Authority::set_user_authority(sender, connection, envelope.from);
  on_send(connection, envelope, frame_bytes);
}

void Router::refuse_invalid(ConnectionState& connection, const protocol::Envelope& head, std::size_t frame_bytes,
                            std::string_view reason) {
  SendContext sending{connection, head, sender_of(connection), connection.agent, frame_bytes};
  if (!replies_.answer_if_repeated(sending)) replies_.refuse(sending, NackCode::BadRequest, reason);
}

bool Router::parse(SendContext& sending) {
  auto view = protocol::parse_send(sending.envelope.payload);
  if (!view) {
    replies_.refuse(sending, NackCode::BadRequest, view.error().message());
    return false;
  }
  auto meta = protocol::parse_send_meta(sending.envelope.payload_meta);
  if (!meta) {
    replies_.refuse(sending, NackCode::BadRequest, meta.error().message());
    return false;
  }
  sending.view = std::move(*view);
  sending.meta = std::move(*meta);
  return true;
}

void Router::on_send(ConnectionState& connection, const protocol::Envelope& envelope, std::size_t frame_bytes) {
  const bool one_shot = connection.phase == Phase::OneShot;
  const AgentName from = one_shot ? AgentName{std::string{envelope.from}} : *connection.agent;
  SendContext sending{connection, envelope, connection.query_only ? nullptr : agents_.find(from.value()), from,
                      frame_bytes};
  if (replies_.answer_if_repeated(sending) || !parse(sending) || !check_sender(sending)) return;
  if (envelope.to.starts_with('_')) {  // all internal names do; other messages skip the comparisons
    for (const auto& [name, recipient] : internal_)
      if (envelope.to == name) return recipient->on_message(sending);
  }
  if (const auto late = expired_reason(sending); !late.empty())
    return replies_.refuse(sending, NackCode::Expired, late);
  if (replies_.is_duplicate_key(sending)) return replies_.acknowledge_when_saved(sending);
  if (envelope.to.empty())
    return replies_.refuse(sending, NackCode::BadRequest, "SEND needs 'to': a name, or '*' for everyone");
  const auto audience = recipients_of(sending);
  if (context_.limits().explain)
    context_.log(WriteLog::Level::Debug, format("message routed id={} from={} to={} topic={} kind={} recipients={}",
                                                envelope.id, sending.from.value(), envelope.to, envelope.topic,
                                                sending.view.kind_name, audience ? audience->size() : 0));
  if (!audience) return replies_.refuse(sending, NackCode::UnknownRecipient, audience.error().message());
  if (const auto rejected = check_policy_and_loops(sending, *audience)) {
    if (context_.limits().explain)
      context_.log(WriteLog::Level::Debug, format("message refused id={} code={} reason=\"{}\"", envelope.id,
                                                  name_of(rejected->code), rejected->message));
    return replies_.refuse(sending, *rejected);
  }

  if (!open_blocking_request(sending)) return;
  accept(sending, envelope.to, *audience, FrameKind::Deliver);
}

std::string_view Router::expired_reason(const SendContext& sending) const {
  if (sending.meta.ttl_ms && *sending.meta.ttl_ms <= 0)
    return "ttl_ms is not positive; give a positive number of milliseconds";
  if (sending.meta.delivery && sending.meta.delivery->deadline != 0 &&
      sending.meta.delivery->deadline <= context_.wall())
    return "the deadline has already passed; give a later one";
  return {};
}

std::optional<Rejection> Router::check_policy_and_loops(const SendContext& sending, const Audience& audience) {
  const std::string_view to = sending.to;
  if (auto rejected = check_observed(sending, audience)) return rejected;
  if (audience.size() == 1 && audience.front()->name().value() == to &&
      decide(audience.front()->record->policy, sending.from.value()) == protocol::DeliveryPolicyAction::Refuse)
    return Rejection{NackCode::Refused, format("{} does not accept messages from {}; the user can change that with "
                                               "`agent-relay policy {}`",
                                               to, sending.from.value(), to)};
  if (!context_.limits().break_loops) return std::nullopt;
  auto loop = loops_.check(loop_view(sending, audience), context_.now());
  while (const auto trip = loops_.take_trip()) {
    context_.log(WriteLog::Level::Warn,
                 format("loop stopped from={} to={} reason=\"{}\"", trip->from, trip->to, trip->reason));
    event_recorder_.record(
        events::LoopTripped{.from = trip->from, .to = trip->to, .reason = trip->reason, .until = trip->until},
        sending.from, sending.connection.session);
  }
  if (!loop) return std::nullopt;
  return Rejection{NackCode::Loop, *std::move(loop)};
}

std::optional<Rejection> Router::check_observed(const SendContext& sending, const Audience& audience) const {
  if (audience.size() != 1 || !audience.front()->observed()) return std::nullopt;
  const AgentState& agent = *audience.front();
  if (agent.cannot_be_addressed())
    return Rejection{NackCode::Unsupported,
                     agent.connected()
                         ? format("{} is only observed: it was started without agent-relay, and nothing can be "
                                  "delivered to it; start it with: agent-relay run -n NAME {}",
                                  sending.to, agent.record->cli)
                         : format("{} is only observed and offline; its program may have started another session, "
                                  "which has another name: see agent-relay agents",
                                  sending.to)};
  if (sends_as_user(sending.connection, sending.from.value())) return std::nullopt;
  return Rejection{NackCode::Refused,
                   format("{} was started without agent-relay and accepts messages from the user only: its processes "
                          "count as the user's; to let agents write to it, start it with: agent-relay run -n NAME {}",
                          sending.to, agent.record->cli)};
}

bool Router::is_within_rate(SendContext& sending) {
  if (sending.sender == nullptr) return true;
  auto& bucket = *sending.sender->bucket;
  if (!bucket) bucket.emplace(context_.limits().rate_per_second, context_.limits().rate_burst);
  if (bucket->take(context_.steady())) return true;
  const Millis wait = bucket->wait(context_.steady());
  if (sending.connection.wants_answers()) {
    replies_.refuse(sending, NackCode::RateLimited,
                    format("more than {:.0f} messages per second; slow down", context_.limits().rate_per_second),
                    wait.count());
    return false;
  }
  // Clients without NACK are slowed instead: this message is accepted, the next ones are read later.
  bucket->take_anyway(context_.steady());
  connections_.pause(sending.connection, Pause::Rate);
  context_.arm(context_.steady() + bucket->wait(context_.steady()),
               {.kind = TimerKind::RatePause, .connection = sending.connection.id->value()});
  return true;
}

bool Router::fits_frame(SendContext& sending) {
  const std::size_t bytes = sending.envelope.payload.size() + sending.envelope.payload_meta.size();
  constexpr std::size_t kMaxBytes = protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes;
  if (bytes <= kMaxBytes) return true;
  replies_.refuse(sending, NackCode::TooLarge,
                  format("a message may be at most {} bytes; this one is {}; send it as a file", kMaxBytes, bytes));
  return false;
}

Result<Audience> Router::recipients_of(const SendContext& sending) {
  const std::string_view to = sending.envelope.to;
  Audience audience;
  const auto everyone_who = [&](auto&& fits) {
    for (auto& [name, agent] : agents_.all()) {
      if (agent.name() != sending.from && agents_.in_audience(agent) && fits(agent)) audience.push_back(&agent);
    }
    std::ranges::sort(audience, {}, [](const AgentState* agent) -> const AgentName& { return agent->name(); });
  };
  if (to == protocol::kEveryone) {
    if (sending.envelope.topic.empty())
      everyone_who([](const AgentState&) { return true; });
    else if (const auto* subscribers = audiences_.subscribers(std::string{sending.envelope.topic}))
      everyone_who([&](const AgentState& agent) { return subscribers->contains(agent.name()); });
  } else if (to == protocol::kAllUsers) {
    everyone_who([](const AgentState& agent) { return agent.record->entity == protocol::EntityType::User; });
  } else if (to.starts_with('#')) {
    for (const AgentName& name : audiences_.members(std::string{to})) {
      AgentState* member = name == sending.from ? nullptr : agents_.find(name.value());
      if (member != nullptr && audiences_.receives_channel(*member, to)) audience.push_back(member);
    }
  } else {
    AgentState* agent = agents_.find(to);
    if (agent == nullptr || agent->removing) return fail(agents_.unknown_reason(to));
    audience.push_back(agent);
  }
  return audience;
}

void Router::accept(SendContext& sending, std::string_view to, const Audience& audience, FrameKind frame_kind) {
  const bool direct = audience.size() == 1 && audience.front()->name().value() == to;
  if (direct && audience.front()->mailbox.pending() >= context_.limits().max_backlog) {
    const auto depth = audience.front()->mailbox.pending();
    if (sending.connection.wants_answers())
      connections_.send_new(sending.connection, MessageType::Busy, protocol::write_busy(kBusyRetryMs, depth));
    return replies_.refuse(sending, NackCode::Busy,
                           format("{} already has {} pending messages; try again later", to, depth), kBusyRetryMs);
  }
  const auto& envelope = sending.envelope;
  const protocol::DeliveryOptions options = sending.meta.delivery.value_or(protocol::DeliveryOptions{});
  const protocol::Lane lane{options.mode, options.priority};
  if (const auto rejected = publisher_.check_streams(Topic{std::string{envelope.topic}}, sending.from, lane, audience))
    return replies_.refuse(sending, *rejected);
  auto message = std::make_shared<records::Message>(records::Message{
      .key = context_.next_key(),
      .id = std::string{envelope.id},
      .ts = context_.wall(),
      .from = sending.from,
      .to = std::string{to},
      .topic = Topic{std::string{envelope.topic}},
      .kind = sending.view.kind_name,
      .thread = sending.view.thread,
      .payload = std::string{envelope.payload},
      .payload_meta = std::string{envelope.payload_meta},
      .session = sends_as_user(sending.connection, sending.from.value()) ? SessionId{std::string{records::kUserSession}}
                                                                         : *sending.connection.session,
  });
  blocking_.mark_plain_answer(sending, *message);
  WallMs expires_at =
      context_.wall() + std::min(sending.meta.ttl_ms.value_or(context_.limits().default_ttl_ms), protocol::kMaxTtlMs);
  if (options.deadline != 0) expires_at = std::min(expires_at, options.deadline);
  PendingSend pending{
      .connection = sending.connection.id,
      .id = message->id,
      .from = sending.from,
      .epoch = {},
      .number = 0,
      .bytes = sending.bytes,
      .answer = sending.connection.wants_answers(),
      .receipts = sending.connection.capabilities->receipts || sending.connection.capabilities->receipt_steps ||
                  sending.meta.requires_ack || sending.meta.receipt_steps,
      .steps = sending.connection.capabilities->receipt_steps || sending.meta.receipt_steps,
      .message = message,
      .deliveries = {},
  };
  publisher_.add_message(pending, audience, frame_kind, lane, expires_at);
  replies_.remember(sending, pending);
  replies_.remember_key(sending, options.idempotency_key);
  if (sending.meta.sync) blocking_.set_key(sending.meta.sync->correlation_id, message->key);
  if (context_.limits().break_loops)
    loops_.on_stored(loop_view(sending, audience), records::short_id(message->key), context_.now());

  budget_.charge_message(sending.connection, pending.bytes);
  commits_.add_send(std::move(pending));
}

bool Router::check_sender(SendContext& sending) { return is_within_rate(sending) && fits_frame(sending); }

bool Router::open_blocking_request(SendContext& sending) {
  if (!sending.meta.sync || !sending.meta.sync->blocking) return true;
  const auto rejected = blocking_.open(sending);
  if (!rejected) return true;
  if (sending.connection.wants_answers())
    replies_.refuse(sending, *rejected);
  else
    connections_.send_error(sending.connection, ErrorCode::Internal, rejected->message);
  return false;
}

}  // namespace relay::broker
