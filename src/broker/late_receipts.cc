#include "broker/late_receipts.h"

#include <algorithm>

#include "base/format.h"

namespace relay::broker {

using protocol::ReceiptStatus;
using records::DeliveryState;

namespace {

constexpr std::size_t kMaxLateReceipts = 2 * protocol::kMaxInflight;  // of one agent, not looked up yet
constexpr std::size_t kLookupRows = 128;                              // of one lookup
constexpr Millis kLookupRetryDelay{1'000};

}  // namespace

void LateReceipts::on_receipt(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  const auto end = end_of(agent, receipt);
  if (!end && !protocol::returns_delivery(receipt)) return;  // the session keeps it
  // It was unsettled from an earlier connection and no longer is. A returned one is resent and gets the same receipt.
  (void)agent.mailbox.finish(key);
  if (end && !settlement_.upgrade_proof(agent, key, receipt)) {
    auto& late_receipts = agent.lookup->late_receipts;
    if (late_receipts.size() < kMaxLateReceipts)
      late_receipts.emplace(key, receipt);
    else
      context_.log(WriteLog::Level::Warn, format("late receipt dropped agent={}", agent.name().value()));
    look_up(agent);
  }
  deliveries_.deliver_pending(agent);
}

void LateReceipts::check_unsettled(AgentState& agent, std::set<Key> deliveries) {
  agent.lookup->unchecked = std::move(deliveries);
  look_up(agent);
}

void LateReceipts::look_up(AgentState& agent) {
  LookupState& lookup = *agent.lookup;
  if (lookup.looking_up || (lookup.late_receipts.empty() && lookup.unchecked.empty())) return;
  std::set<Key> wanted;
  for (auto late = lookup.late_receipts.begin(); late != lookup.late_receipts.end() && wanted.size() < kLookupRows;
       late = lookup.late_receipts.upper_bound(late->first))
    wanted.insert(late->first);
  for (auto key = lookup.unchecked.begin(); key != lookup.unchecked.end() && wanted.size() < kLookupRows; ++key)
    wanted.insert(*key);
  records::DeliveryQuery query;
  query.deliveries.assign(wanted.begin(), wanted.end());
  lookup.looking_up = true;
  commits_.flush();
  auto deliveries = query.deliveries;
  queries_.run(std::move(query),
               [this, name = agent.name(), deliveries = std::move(deliveries),
                read = changes_during_read_.start_read()](Result<std::vector<records::DeliveryRow>> rows) {
                 on_lookup(name, deliveries, std::move(rows));
                 changes_during_read_.end_read(read);
               });
}

void LateReceipts::on_lookup(const AgentName& name, const std::vector<Key>& deliveries,
                             Result<std::vector<records::DeliveryRow>> rows) {
  AgentState* agent = agents_.find(name.value());
  if (agent == nullptr) return;
  LookupState& lookup = *agent->lookup;
  lookup.looking_up = false;
  const auto retry_later = [&] {
    context_.arm(context_.steady() + kLookupRetryDelay, {.kind = TimerKind::ReloadRetry, .name = name.value()});
  };
  if (!rows) {
    context_.log(WriteLog::Level::Warn,
                 format("cannot look up deliveries agent={} error=\"{}\"", name.value(), rows.error().message()));
    return retry_later();
  }
  // A result may be short because its messages are long: deliveries after the last row are looked up again.
  const Key last = rows->empty() ? deliveries.back() : rows->back().delivery.key;
  std::multimap<Key, protocol::Receipt> too_early;
  auto row = rows->begin();
  for (const Key key : deliveries) {
    if (key > last) break;
    while (row != rows->end() && row->delivery.key < key) ++row;
    const bool found = row != rows->end() && row->delivery.key == key;
    const bool unchecked = lookup.unchecked.erase(key) > 0;
    for (auto late = lookup.late_receipts.equal_range(key); late.first != late.second;) {
      const auto receipt = lookup.late_receipts.extract(late.first++);
      if (found && !apply(*agent, *row, receipt.mapped())) too_early.emplace(key, receipt.mapped());
    }
    if (unchecked && found) reconcile(*agent, *row);
    if (unchecked && !found) (void)agent->mailbox.finish(key);  // it was pruned
  }
  look_up(*agent);
  if (!too_early.empty()) retry_later();
  lookup.late_receipts.merge(too_early);
  deliveries_.deliver_pending(*agent);
}

/// False when the row does not contain the latest change yet; it must be looked up again.
bool LateReceipts::apply(AgentState& agent, records::DeliveryRow& row, const protocol::Receipt& receipt) {
  auto& delivery = row.delivery;
  const Key key = delivery.key;
  if (delivery.to != agent.name() || !agent.session) return true;
  if (agent.mailbox.is_in_flight(key)) {  // it was resent meanwhile
    if (settlement_.apply(agent, key, receipt)) deliveries_.deliver_pending(agent);
    return true;
  }
  const auto end = end_of(agent, receipt);
  if (!end || settlement_.upgrade_proof(agent, key, receipt)) return true;
  if (changes_during_read_.has(DeliveryChange::Finished, key)) return false;
  const bool may_have_arrived = *end == DeliveryState::Delivered || *end == DeliveryState::InDoubt;
  const bool is_over = records::is_final(delivery.state) && delivery.state != DeliveryState::InDoubt;
  if (!may_have_arrived && (changes_during_read_.is_held(key, delivery.hold != records::Hold::None) || is_over))
    return true;
  auto entry = history_entry_of(key, receipt);
  OutboundDelivery outbound{delivery, std::make_shared<const records::Message>(row.message)};
  if (!records::is_final(delivery.state)) {
    // It is queued, although its session had it and has finished it.
    agent.mailbox.drop(key);
    if (changes_during_read_.is_held(key, delivery.hold != records::Hold::None)) agent.mailbox.release_one();
    if (*end == DeliveryState::Delivered)
      settlement_.complete(agent, InFlight{.outbound = std::move(outbound)}, std::move(entry));
    else
      settlement_.end_delivery(agent, outbound, *end, std::move(entry));
    return true;
  }
  entry.proof = std::max(entry.proof, delivery.proof);
  const bool redelivered = row.last.reason.starts_with(kRedeliveredAs);
  if (!records::is_legal_transition(delivery.state, delivery.proof, *end, entry.proof) ||
      (redelivered && *end == DeliveryState::InDoubt))
    return true;
  if (*end == DeliveryState::Delivered && delivery.state != DeliveryState::Delivered) agents_.count_received(agent);
  delivery.state = entry.state = *end;  // for the next receipt about it
  delivery.proof = entry.proof;
  history_.record(agent, outbound.message, std::move(entry));
  return true;
}

/// Cancels deliveries that ended while the session was disconnected.
void LateReceipts::reconcile(AgentState& agent, const records::DeliveryRow& row) {
  const auto& delivery = row.delivery;
  const bool over = delivery.to != agent.name() || records::is_final(delivery.state) ||
                    changes_during_read_.has(DeliveryChange::Finished, delivery.key);
  if (!over) return agent.mailbox.locate_unsettled(delivery.key, delivery.lane, delivery.from);
  if (agent.mailbox.is_in_flight(delivery.key)) return;
  (void)agent.mailbox.finish(delivery.key);
  deliveries_.send_cancel(agent, delivery.key, row.last.reason.empty() ? name_of(delivery.state) : row.last.reason);
}

}  // namespace relay::broker
