#include "broker/settlement.h"

#include <algorithm>

#include "base/format.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::ReceiptStatus;
using records::DeliveryState;
using records::Hold;
using records::Proof;

namespace {

constexpr std::size_t kMaxSettled = 64;  // per agent

Proof parse_proof(std::string_view name) {
  for (const Proof proof : {Proof::Written, Proof::Submitted, Proof::Seen}) {
    if (name_of(proof) == name) return proof;
  }
  return Proof::Accepted;
}

/// Doubled with every failure.
std::int64_t pause_after(std::uint32_t failures) {
  std::int64_t pause = protocol::kFirstRetryMs;
  for (std::uint32_t n = 1; n < failures && pause < protocol::kMaxRetryMs; ++n) pause *= 2;
  return std::min(pause, protocol::kMaxRetryMs);
}

}  // namespace

records::ChangeDelivery history_entry_of(Key key, const protocol::Receipt& receipt) {
  return {.key = key,
          .proof = receipt.status == ReceiptStatus::InDoubt ? Proof::Written : parse_proof(receipt.proof),
          .reason = receipt.reason,
          .via = receipt.via,
          .evidence = receipt.evidence,
          .metadata = receipt.metadata};
}

std::optional<DeliveryState> end_of(const AgentState& agent, const protocol::Receipt& receipt) {
  if (protocol::keeps_delivery(receipt) || protocol::returns_delivery(receipt)) return std::nullopt;
  switch (receipt.status) {
    case ReceiptStatus::Delivered:
      // A session that delivers to an agent outside it must prove the arrival; a session that is the agent need not.
      if (agent.session->capabilities.queue && parse_proof(receipt.proof) < Proof::Submitted) return std::nullopt;
      return DeliveryState::Delivered;
    case ReceiptStatus::InDoubt: return DeliveryState::InDoubt;
    case ReceiptStatus::Failed:
      if (receipt.code == protocol::kCancelled) return DeliveryState::Cancelled;
      return receipt.code == name_of(protocol::NackCode::Expired) ? DeliveryState::Expired : DeliveryState::Failed;
    case ReceiptStatus::Accepted:
    case ReceiptStatus::Deferred: break;
  }
  return std::nullopt;
}

bool Settlement::apply(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  InFlight& item = agent.mailbox.flight().at(key);
  records::ChangeDelivery entry = history_entry_of(key, receipt);
  const auto end = end_of(agent, receipt);
  if (!end && protocol::returns_delivery(receipt)) {
    const InFlight returned = *agent.mailbox.finish(key);
    take_returned(agent, returned, [&] {
      if (receipt.status == ReceiptStatus::Failed)
        retry_later(agent, returned, std::move(entry), 0);
      else
        defer(agent, returned, std::move(entry), receipt.available_at);
    });
  } else if (!end) {
    if (receipt.status == ReceiptStatus::Deferred) entry.state = DeliveryState::Deferred;
    keep(agent, item, std::move(entry));
    return false;
  } else if (*end == DeliveryState::Delivered) {
    complete(agent, *agent.mailbox.finish(key), std::move(entry));
  } else {
    end_delivery(agent, agent.mailbox.finish(key)->outbound, *end, std::move(entry));
  }
  return true;
}

bool Settlement::upgrade_proof(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  auto& settled = agent.settlement->settled;
  const auto found = std::ranges::find(settled, key, &SettledDelivery::delivery);
  if (found == settled.end()) return false;
  auto entry = history_entry_of(key, receipt);
  if (receipt.status != ReceiptStatus::Delivered || entry.proof <= found->proof) return true;
  found->proof = entry.proof;
  entry.state = DeliveryState::Delivered;
  const bool seen = entry.proof == Proof::Seen;
  history_.record(agent, heading_of(found->message, found->from, agent.name()), std::move(entry));
  if (seen) settled.erase(found);
  return true;
}

/// The session has the delivery: it is not resent on this connection, and stays in flight until the next receipt.
void Settlement::keep(AgentState& agent, InFlight& item, records::ChangeDelivery entry) {
  item.stop_resending();
  auto& delivery = item.outbound.delivery;
  if (entry.state != DeliveryState::Deferred) entry.state = DeliveryState::Accepted;
  entry.proof = std::max(entry.proof, delivery.proof);
  const bool changed = entry.state != delivery.state || entry.proof != delivery.proof || !entry.reason.empty();
  delivery.state = entry.state;
  delivery.proof = entry.proof;
  if (changed) history_.record(agent, item.outbound.message, std::move(entry));
}

void Settlement::settle(AgentState& agent, Key key) {
  agent.mailbox.settle_one();
  agent.settlement->cancels.erase(key);
  agent.settlement->failing_since.erase(key);
  changes_during_read_.add(DeliveryChange::Finished, key);
}

void Settlement::complete(AgentState& agent, const InFlight& item, records::ChangeDelivery entry) {
  const auto& delivery = item.outbound.delivery;
  settle(agent, delivery.key);
  agents_.count_received(agent);
  streams_.acknowledged(item.outbound.message->topic, item.outbound.message->from, agent.name(), delivery.lane,
                        delivery.seq);
  entry.proof = std::max(entry.proof, delivery.proof);
  if (entry.proof < Proof::Seen && agent.session && agent.session->capabilities.modes) {  // others report no proof
    auto& settled = agent.settlement->settled;
    settled.push_back({delivery.key, entry.proof, delivery.message, delivery.from});
    if (settled.size() > kMaxSettled) settled.pop_front();
  }
  entry.state = DeliveryState::Delivered;
  agent.thread.write() = item.outbound.message->thread;
  history_.record(agent, item.outbound.message, std::move(entry));
}

void Settlement::end_delivery(AgentState& agent, const OutboundDelivery& outbound, DeliveryState state,
                              records::ChangeDelivery entry) {
  settle(agent, outbound.delivery.key);
  if (state == DeliveryState::Delivered) agents_.count_received(agent);
  entry.state = state;
  entry.proof = std::max(entry.proof, outbound.delivery.proof);
  history_.record(agent, outbound.message, std::move(entry));
}

/// A delivery that the session returned ends if its cancellation was requested; else it is deferred.
template <class Again>
void Settlement::take_returned(AgentState& agent, const InFlight& item, Again again) {
  const auto cancel = agent.settlement->cancels.find(item.outbound.delivery.key);
  if (cancel == agent.settlement->cancels.end()) return again();
  end_delivery(agent, item.outbound, DeliveryState::Cancelled,
               {.key = item.outbound.delivery.key, .reason = cancel->second.reason});
}

void Settlement::retry_later(AgentState& agent, const InFlight& item, records::ChangeDelivery entry,
                             std::int64_t wait_ms) {
  const auto& delivery = item.outbound.delivery;
  const std::uint32_t failures = delivery.attempts + 1;
  entry.attempts = failures;
  const std::string why = std::exchange(entry.reason, {});
  const auto pause = std::clamp(wait_ms, pause_after(failures), protocol::kMaxRetryMs);
  const WallMs since = agent.settlement->failing_since.try_emplace(delivery.key, context_.wall()).first->second;
  const bool too_old = context_.wall() + pause > since + protocol::kMaxRetryAgeMs;
  if (failures >= protocol::kMaxAttempts || too_old) {
    entry.reason = failures >= protocol::kMaxAttempts
                       ? format("gave up after {} attempts; the last error: {}", failures, why)
                       : format("gave up after a day; the last error: {}", why);
    return end_delivery(agent, item.outbound, DeliveryState::Dead, std::move(entry));
  }
  entry.reason = format("attempt {} of {} failed: {}", failures, protocol::kMaxAttempts, why);
  defer(agent, item, std::move(entry), context_.wall() + pause);
}

/// The session does not have it any more; it is requeued at that time.
void Settlement::defer(AgentState& agent, const InFlight& item, records::ChangeDelivery entry, WallMs until) {
  entry.state = DeliveryState::Deferred;
  entry.hold = Hold::Time;
  entry.available_at = std::clamp(until, context_.wall() + 1, context_.wall() + protocol::kMaxTtlMs);
  entry.proof = Proof::Stored;
  agent.mailbox.add_held();
  changes_during_read_.add(DeliveryChange::Deferred, entry.key);
  const WallMs at = entry.available_at;
  history_.record(agent, item.outbound.message, std::move(entry));
  commits_.when_saved([this, at] { due_timer_.arm(at); });  // until then a query would not find it
}

void Settlement::apply_nack(AgentState& agent, const InFlight& item, const protocol::Nack& nack) {
  const auto code = protocol::parse_nack_code(nack.code);
  records::ChangeDelivery entry{.key = item.outbound.delivery.key,
                                .reason = nack.message.empty() ? nack.code : nack.message};
  if (code && is_retryable(*code))
    take_returned(agent, item, [&] { retry_later(agent, item, std::move(entry), nack.retry_after_ms); });
  else
    end_delivery(agent, item.outbound, DeliveryState::Failed, std::move(entry));
}

void Settlement::request_cancel(AgentState& agent, Key key, std::string reason, OutboundDelivery delivery) {
  agent.settlement->cancels[key] = {std::move(reason), std::move(delivery)};
}

void Settlement::cancel_requested(AgentState& agent) {
  for (const auto& [key, cancel] : std::exchange(agent.settlement->cancels, {})) {
    const auto item = agent.mailbox.finish(key);
    if (!item) agent.mailbox.drop(key);
    if (changes_during_read_.has(DeliveryChange::Finished, key)) continue;
    const auto& outbound = item ? item->outbound : cancel.delivery;
    end_delivery(agent, outbound, records::state_on_cancel(outbound.delivery.proof),
                 {.key = key, .reason = cancel.reason});
  }
}

}  // namespace relay::broker
