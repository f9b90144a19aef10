// Afterwards: what sessions say of deliveries that are not in flight. They may have ended while the word was on its way,
// or while their session was away; what they are now is read from the store first.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::MessageType;
using protocol::ReceiptStatus;
using records::DeliveryState;
using records::Proof;

namespace {

constexpr std::size_t kMaxLateWords = 2 * protocol::kMaxInflight;  // of one agent, not looked up yet
constexpr std::size_t kInquiryRows = 128;                          // of one look
constexpr Millis kInquiryRetryDelay{1'000};

}  // namespace

void Core::on_late_receipt(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  const auto end = end_of(agent, receipt);
  if (!end && !protocol::returns_delivery(receipt)) return;  // it keeps what it has
  // What it had in hand of an earlier connection it has no more. Given back, it is sent once more and answered the same.
  (void)agent.mailbox.finish(key);
  if (end && !upgrade_proof(agent, key, receipt)) {
    if (agent.late_receipts.size() < kMaxLateWords)
      agent.late_receipts.emplace(key, receipt);
    else
      note(WriteLog::Level::Warn, format("{} says more of what is over than can be looked up", agent.name().value()));
    look_up_unsettled(agent);
  }
  deliver_pending(agent);
}

/// A delivery that ended well, a moment ago, may turn out to have been seen; false: it is not one of those.
bool Core::upgrade_proof(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  const auto done = std::ranges::find(agent.done, key, &SettledDelivery::delivery);
  if (done == agent.done.end()) return false;
  auto line = history_entry_of(key, receipt);
  if (receipt.status != ReceiptStatus::Delivered || line.proof <= done->proof) return true;
  done->proof = line.proof;
  line.state = DeliveryState::Delivered;
  const bool seen = line.proof == Proof::Seen;
  record_history(agent, heading_of(done->message, done->from, agent.name()), std::move(line));
  if (seen) agent.done.erase(done);
  return true;
}

// ---------------------------------------------------------------- looking it up

void Core::look_up_unsettled(AgentState& agent) {
  if (agent.inquiring || (agent.late_receipts.empty() && agent.unchecked.empty())) return;
  std::set<Key> wanted;
  for (auto word = agent.late_receipts.begin(); word != agent.late_receipts.end() && wanted.size() < kInquiryRows;
       word = agent.late_receipts.upper_bound(word->first))
    wanted.insert(word->first);
  for (auto key = agent.unchecked.begin(); key != agent.unchecked.end() && wanted.size() < kInquiryRows; ++key)
    wanted.insert(*key);
  records::DeadQuery query;
  query.deliveries.assign(wanted.begin(), wanted.end());
  agent.inquiring = true;
  flush_changes();
  const QueryId id{next_query_++};
  inquiries_.emplace(id, DeliveryLookup{agent.name(), query.deliveries, unseen_.begin_read()});
  emit(QueryDead{id, std::move(query)});
}

void Core::on_lookup(const DeliveryLookup& inquiry, Result<std::vector<records::DeadLetter>> letters) {
  AgentState* agent = find_agent(inquiry.agent.value());
  if (agent == nullptr) return;
  agent->inquiring = false;
  const auto look_again_later = [&] {
    timers_.arm(now_.steady + kInquiryRetryDelay, {.kind = TimerKind::ReloadRetry, .name = inquiry.agent.value()});
  };
  if (!letters) {
    note(WriteLog::Level::Warn,
         format("the deliveries of {} could not be read: {}", inquiry.agent.value(), letters.error().message()));
    return look_again_later();
  }
  // An answer may be short because its letters are long: what lies behind the last of them is asked for again.
  const Key looked_up = letters->empty() ? inquiry.deliveries.back() : letters->back().delivery.key;
  std::multimap<Key, protocol::Receipt> too_early;
  auto letter = letters->begin();
  for (const Key key : inquiry.deliveries) {
    if (key > looked_up) break;
    while (letter != letters->end() && letter->delivery.key < key) ++letter;
    const bool known = letter != letters->end() && letter->delivery.key == key;
    const bool unchecked = agent->unchecked.erase(key) > 0;
    for (auto words = agent->late_receipts.equal_range(key); words.first != words.second;) {
      const auto word = agent->late_receipts.extract(words.first++);
      if (known && !apply_late_receipt(*agent, *letter, word.mapped())) too_early.emplace(key, word.mapped());
    }
    if (unchecked && known) reconcile_unsettled(*agent, *letter);
    if (unchecked && !known) (void)agent->mailbox.finish(key);  // nobody knows it any more
  }
  look_up_unsettled(*agent);
  if (!too_early.empty()) look_again_later();
  agent->late_receipts.merge(too_early);
  deliver_pending(*agent);
}

/// False when the row is older than what was decided meanwhile: to be looked up again.
bool Core::apply_late_receipt(AgentState& agent, records::DeadLetter& letter, const protocol::Receipt& word) {
  auto& delivery = letter.delivery;
  const Key key = delivery.key;
  if (delivery.to != agent.name() || !agent.session) return true;
  if (agent.mailbox.flight().contains(key)) {  // it was sent again meanwhile
    on_receipt_for(agent, key, word);
    return true;
  }
  const auto end = end_of(agent, word);
  if (!end || upgrade_proof(agent, key, word)) return true;
  if (unseen_.has(DeliveryChange::Finished, key)) return false;
  const bool arrived = *end == DeliveryState::Delivered || *end == DeliveryState::InDoubt;  // or perhaps
  const bool is_over = records::is_final(delivery.state) && delivery.state != DeliveryState::InDoubt;
  if (!arrived && (is_held(key, delivery.hold) || is_over)) return true;
  auto line = history_entry_of(key, word);
  OutboundDelivery parcel{delivery, std::make_shared<const records::Message>(letter.message)};
  if (!records::is_final(delivery.state)) {
    // Its session has had it and has no more, though it lies in a queue.
    agent.mailbox.drop(key);
    if (is_held(key, delivery.hold)) agent.mailbox.release_one();
    if (*end == DeliveryState::Delivered)
      complete(agent, InFlight{.parcel = std::move(parcel)}, std::move(line));
    else
      end_delivery(agent, parcel, *end, std::move(line));
    return true;
  }
  line.proof = std::max(line.proof, delivery.proof);
  const bool renewed = letter.last.reason.starts_with(kRedeliveredAs);
  if (!records::is_legal_transition(delivery.state, delivery.proof, *end, line.proof) ||
      (renewed && *end == DeliveryState::InDoubt))
    return true;
  if (*end == DeliveryState::Delivered && delivery.state != DeliveryState::Delivered) count_received(agent);
  delivery.state = line.state = *end;  // for the next word about it
  delivery.proof = line.proof;
  record_history(agent, parcel.message, std::move(line));
  return true;
}

/// What ended while its session was away, that one does not know.
void Core::reconcile_unsettled(AgentState& agent, const records::DeadLetter& letter) {
  const auto& delivery = letter.delivery;
  const bool over = delivery.to != agent.name() || records::is_final(delivery.state) ||
                    unseen_.has(DeliveryChange::Finished, delivery.key);
  if (!over) return agent.mailbox.stands_in(delivery.key, delivery.lane, delivery.from);
  if (agent.mailbox.flight().contains(delivery.key)) return;
  (void)agent.mailbox.finish(delivery.key);
  send_cancel(agent, delivery.key, letter.last.reason.empty() ? name_of(delivery.state) : letter.last.reason);
}

void Core::send_cancel(AgentState& agent, Key key, std::string_view reason) {
  const auto order = protocol::write_cancel({.delivery_id = records::delivery_id(key), .reason = std::string{reason}});
  for (const ConnectionId id : agent.connections) {
    ConnectionState* connection = find(id);
    if (connection != nullptr && connection->phase == Phase::Active && connection->capabilities.modes)
      send_new(*connection, MessageType::Cancel, order);
  }
}

}  // namespace relay::broker
