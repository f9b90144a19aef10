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

void Core::hear_afterwards(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  const auto end = end_of(agent, receipt);
  if (!end && !protocol::gives_back(receipt)) return;  // it keeps what it has
  // What it had in hand of an earlier connection it has no more. Given back, it is sent once more and answered the same.
  (void)agent.mailbox.finish(key);
  if (end && !strengthen(agent, key, receipt)) {
    if (agent.late_words.size() < kMaxLateWords)
      agent.late_words.emplace(key, receipt);
    else
      note(Note::Level::Warn, format("{} says more of what is over than can be looked up", agent.name().value()));
    inquire(agent);
  }
  pump(agent);
}

/// A delivery that ended well, a moment ago, may turn out to have been seen; false: it is not one of those.
bool Core::strengthen(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  const auto done = std::ranges::find(agent.done, key, &Done::delivery);
  if (done == agent.done.end()) return false;
  auto line = line_of(key, receipt);
  if (receipt.status != ReceiptStatus::Delivered || line.proof <= done->proof) return true;
  done->proof = line.proof;
  line.state = DeliveryState::Delivered;
  const bool seen = line.proof == Proof::Seen;
  enter(agent, heading_of(done->message, done->from, agent.name()), std::move(line));
  if (seen) agent.done.erase(done);
  return true;
}

// ---------------------------------------------------------------- looking it up

void Core::inquire(AgentState& agent) {
  if (agent.inquiring || (agent.late_words.empty() && agent.unchecked.empty())) return;
  std::set<Key> wanted;
  for (auto word = agent.late_words.begin(); word != agent.late_words.end() && wanted.size() < kInquiryRows;
       word = agent.late_words.upper_bound(word->first))
    wanted.insert(word->first);
  for (auto key = agent.unchecked.begin(); key != agent.unchecked.end() && wanted.size() < kInquiryRows; ++key)
    wanted.insert(*key);
  records::DeadQuery query;
  query.deliveries.assign(wanted.begin(), wanted.end());
  agent.inquiring = true;
  flush_changes();
  const QueryId id{next_query_++};
  inquiries_.emplace(id, Inquiry{agent.name(), query.deliveries, unseen_.begin_look()});
  emit(AskDead{id, std::move(query)});
}

void Core::inquired(const Inquiry& inquiry, Result<std::vector<records::DeadLetter>> letters) {
  AgentState* agent = find_agent(inquiry.agent.value());
  if (agent == nullptr) return;
  agent->inquiring = false;
  const auto look_again_later = [&] {
    timers_.arm(now_.steady + kInquiryRetryDelay, {.kind = TimerKind::ReloadRetry, .name = inquiry.agent.value()});
  };
  if (!letters) {
    note(Note::Level::Warn,
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
    for (auto words = agent->late_words.equal_range(key); words.first != words.second;) {
      const auto word = agent->late_words.extract(words.first++);
      if (known && !take_late_word(*agent, *letter, word.mapped())) too_early.emplace(key, word.mapped());
    }
    if (unchecked && known) check_in_hand(*agent, *letter);
    if (unchecked && !known) (void)agent->mailbox.finish(key);  // nobody knows it any more
  }
  inquire(*agent);
  if (!too_early.empty()) look_again_later();
  agent->late_words.merge(too_early);
  pump(*agent);
}

/// False when the row is older than what was decided meanwhile: to be looked up again.
bool Core::take_late_word(AgentState& agent, records::DeadLetter& letter, const protocol::Receipt& word) {
  auto& delivery = letter.delivery;
  const Key key = delivery.key;
  if (delivery.to != agent.name() || !agent.session) return true;
  if (agent.mailbox.flight().contains(key)) {  // it was sent again meanwhile
    hear(agent, key, word);
    return true;
  }
  const auto end = end_of(agent, word);
  if (!end || strengthen(agent, key, word)) return true;
  if (unseen_.has(Deed::Finished, key)) return false;
  const bool arrived = *end == DeliveryState::Delivered || *end == DeliveryState::InDoubt;  // or perhaps
  const bool is_over = records::is_final(delivery.state) && delivery.state != DeliveryState::InDoubt;
  if (!arrived && (is_held(key, delivery.hold) || is_over)) return true;
  auto line = line_of(key, word);
  Parcel parcel{delivery, std::make_shared<const records::Message>(letter.message)};
  if (!records::is_final(delivery.state)) {
    // Its session has had it and has no more, though it lies in a queue.
    agent.mailbox.drop(key);
    if (is_held(key, delivery.hold)) agent.mailbox.let_go_one();
    if (*end == DeliveryState::Delivered)
      complete(agent, InFlight{.parcel = std::move(parcel)}, std::move(line));
    else
      end_delivery(agent, parcel, *end, std::move(line));
    return true;
  }
  line.proof = std::max(line.proof, delivery.proof);
  const bool renewed = letter.last.reason.starts_with(kRenewedAs);
  if (!records::may_change(delivery.state, delivery.proof, *end, line.proof) ||
      (renewed && *end == DeliveryState::InDoubt))
    return true;
  if (*end == DeliveryState::Delivered && delivery.state != DeliveryState::Delivered) count_received(agent);
  delivery.state = line.state = *end;  // for the next word about it
  delivery.proof = line.proof;
  enter(agent, parcel.message, std::move(line));
  return true;
}

/// What ended while its session was away, that one does not know.
void Core::check_in_hand(AgentState& agent, const records::DeadLetter& letter) {
  const auto& delivery = letter.delivery;
  const bool over =
      delivery.to != agent.name() || records::is_final(delivery.state) || unseen_.has(Deed::Finished, delivery.key);
  if (!over) return agent.mailbox.stands_in(delivery.key, delivery.lane, delivery.from);
  if (agent.mailbox.flight().contains(delivery.key)) return;
  (void)agent.mailbox.finish(delivery.key);
  tell_cancelled(agent, delivery.key, letter.last.reason.empty() ? name_of(delivery.state) : letter.last.reason);
}

void Core::tell_cancelled(AgentState& agent, Key key, std::string_view reason) {
  const auto order = protocol::write_cancel({.delivery_id = records::delivery_id(key), .reason = std::string{reason}});
  for (const ConnectionId id : agent.connections) {
    Connection* connection = find(id);
    if (connection != nullptr && connection->phase == Phase::Active && connection->capabilities.modes)
      say(*connection, MessageType::Cancel, order);
  }
}

}  // namespace relay::broker
