#include "tests/simulation/history_checker.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"
#include "base/json.h"
#include "protocol/envelope.h"
#include "protocol/hello.h"
#include "protocol/send.h"
#include "records/short_id.h"

namespace relay::simulation {
namespace {

using protocol::MessageType;
using protocol::ReceiptStatus;
using records::DeliveryState;
using records::Proof;

/// The number in a payload whose body reads "m<number>"; 0 when it is somebody else's text.
std::uint64_t number_in(std::string_view payload) {
  constexpr std::string_view kMark = "\"body\":\"m";
  const auto at = payload.find(kMark);
  if (at == payload.npos) return 0;
  std::uint64_t number = 0;
  std::from_chars(payload.data() + at + kMark.size(), payload.data() + payload.size(), number);
  return number;
}

Proof parse_proof(std::string_view name) {
  for (const auto proof : {Proof::Written, Proof::Submitted, Proof::Seen})
    if (name_of(proof) == name) return proof;
  return Proof::Accepted;
}

bool says(const protocol::Receipt& receipt, const Line& line) {
  switch (receipt.status) {
    case ReceiptStatus::Accepted: return line.state == DeliveryState::Accepted && receipt.proof == name_of(line.proof);
    case ReceiptStatus::Delivered:
      return line.state == DeliveryState::Delivered && receipt.proof == name_of(line.proof);
    case ReceiptStatus::Deferred: return line.state == DeliveryState::Deferred && receipt.reason == line.reason;
    case ReceiptStatus::InDoubt: return line.state == DeliveryState::InDoubt;
    case ReceiptStatus::Failed:
      return line.state == DeliveryState::Failed || line.state == DeliveryState::Dead ||
             line.state == DeliveryState::Cancelled ||
             (line.state == DeliveryState::Expired && receipt.code == name_of(protocol::NackCode::Expired));
  }
  return false;
}

}  // namespace

std::string HistoryChecker::body_of(std::uint64_t number) { return format("m{}", number); }

void HistoryChecker::violate(const std::string& what) {
  trace_.line("VIOLATION: {}", what);
  if (!violation_) violation_ = what;
}

void HistoryChecker::violate_unless_damaged(const std::string& what) {
  if (!damaged_) violate(what);
}

void HistoryChecker::judge(const std::optional<std::string>& verdict) {
  if (verdict) violate_unless_damaged(*verdict);
}

void HistoryChecker::open(std::int64_t key) {
  if (open_.insert(key).second && programs_.contains(deliveries_[key].to)) ++awaited_;
}

void HistoryChecker::close(std::int64_t key) {
  if (open_.erase(key) > 0 && programs_.contains(deliveries_[key].to)) --awaited_;
}

std::uint64_t HistoryChecker::say(SentMessage saying) {
  sayings_.push_back(std::move(saying));
  ++unanswered_;
  return sayings_.size();
}

void HistoryChecker::has_id(std::uint64_t number, const std::string& id) { by_id_[id] = number; }

void HistoryChecker::could_not_be_said(std::uint64_t number) {
  nameless_ = true;
  doubt(number);
}

void HistoryChecker::doubt(std::uint64_t number) {
  auto& fate = sayings_[number - 1].fate;
  if (fate != Fate::Said) return;
  fate = Fate::Doubtful;
  --unanswered_;
}

void HistoryChecker::doubt_all_of(const std::string& program) {
  for (std::uint64_t number = 1; number <= sayings_.size(); ++number)
    if (sayings_[number - 1].from == program) doubt(number);
}

void HistoryChecker::acknowledged(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    // A message whose program was told that its disk failed may have reached that disk all the same.
    if (!nameless_) violate_unless_damaged(format("an acknowledgement for {}, which nobody said", id));
    return;
  }
  const auto number = found->second;
  auto& fate = sayings_[number - 1].fate;
  if (!stored_as_wished(number))
    violate_unless_damaged(format("m{} ({}) was acknowledged and is not stored", number, id));
  if (fate == Fate::Refused) violate_unless_damaged(format("m{} ({}) was refused and is now acknowledged", number, id));
  if (fate == Fate::Said) --unanswered_;
  fate = Fate::Acknowledged;
  ++acknowledged_;
}

void HistoryChecker::refused(const std::string& id, const std::string& code) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    if (!nameless_) violate_unless_damaged(format("a refusal of {}, which nobody said", id));
    return;
  }
  const auto number = found->second;
  auto& fate = sayings_[number - 1].fate;
  if (fate == Fate::Acknowledged)
    violate_unless_damaged(format("m{} ({}) was acknowledged and is now refused", number, id));
  if (stored_.contains(number))
    violate_unless_damaged(format("m{} ({}) is stored and was refused with {}", number, id, code));
  if (fate == Fate::Said) --unanswered_;
  fate = Fate::Refused;
}

void HistoryChecker::handed_up(const std::string& program, int life, Keeps keeps, const client::DeliveryRef& place,
                               std::string_view payload) {
  const auto number = number_in(payload);
  ++handed_up_;
  auto& lived = lives_[{program, life}];
  auto& seq = lived.seqs[{place.topic, place.from, place.lane}];
  if (place.seq <= seq)
    violate_unless_damaged(
        format("{} got number {} of the stream from {} after {}", program, place.seq, place.from, seq));
  seq = place.seq;
  if (number > sayings_.size()) return violate(format("m{} reached {} and nobody said it", number, program));
  if (number == 0) return;  // not said by one of our programs
  got_.insert({number, program});
  const auto& saying = sayings_[number - 1];
  if (saying.from != place.from)
    violate_unless_damaged(format("m{} of {} reached {} as if from {}", number, saying.from, program, place.from));
  if (!stored_.contains(number)) violate_unless_damaged(format("m{} reached {} and is not stored", number, program));
  const auto key = records::key_of_delivery_id(place.id);
  const Row* const row = key ? book_.find(*key) : nullptr;
  if (row == nullptr)
    return violate_unless_damaged(format("m{} reached {} as {}, which is not stored", number, program, place.id));
  // It comes again when it was given back, or when a person had it delivered anew under another id.
  const auto comes_again = [&](std::string& before) {
    const bool anew = before != place.id ? row->again : words_[place.id].given_back;
    before = place.id;
    return anew;
  };
  const auto [earlier, first] = lived.numbers.try_emplace(number, place.id);
  const auto [ever, first_ever] = ever_[program].try_emplace(number, place.id);
  const bool put_back = ever->second == place.id && row->put_back > 0;  // perhaps while nobody had it in hand
  if (!first && !comes_again(earlier->second))
    violate_unless_damaged(format("m{} reached {} twice in one life", number, program));
  if (!first_ever && !comes_again(ever->second) && !put_back && keeps == Keeps::Positions)
    violate_unless_damaged(format("m{} reached {} again after its restart", number, program));
  words_[place.id].given_back = false;
  // One that was put back comes after those that were said later.
  if (!saying.ordered || row->put_back > 0 || row->again || row->held) return;
  // After a program forgot its positions it may hear again, in order, what it had not acknowledged.
  check_order(program + (keeps == Keeps::Nothing ? format("/{}", life) : ""), place, number);
}

void HistoryChecker::check_order(const std::string& reader, const client::DeliveryRef& place, std::uint64_t number) {
  auto& last = last_said_[{reader, place.topic, place.from, place.lane}];
  if (number < last)
    violate_unless_damaged(format("m{} reached {} after m{}, which {} said later", number, reader, last, place.from));
  last = std::max(last, number);
}

bool HistoryChecker::stored_as_wished(std::uint64_t number) const {
  const auto& saying = sayings_[number - 1];
  return stored_.contains(number) || (!saying.wish.empty() && wishes_.contains({saying.from, saying.wish}));
}

void HistoryChecker::surfaced(const std::string& program, const client::DeliveryRef& place) {
  const auto key = records::key_of_delivery_id(place.id);
  const Row* const row = key ? book_.find(*key) : nullptr;
  trace_.line("{} puts {} before its agent", program, place.id);
  if (row == nullptr)
    return violate_unless_damaged(format("{} has {} before its agent, which is not stored", program, place.id));
  if (!surfaced_.insert(place.id).second)
    violate_unless_damaged(format("m{} ({}) came before the agent of {} twice", row->number, place.id, program));
  if (row->again) return;
  for (const auto& [other, its] : book_.rows())
    if (other != row->delivery.key && its.number == row->number && row->number != 0 && !its.again &&
        its.delivery.to == row->delivery.to && surfaced_.contains(records::delivery_id(other)))
      violate_unless_damaged(format("m{} came before the agent of {} under two ids", row->number, program));
}

void HistoryChecker::reports(const client::DeliveryRef& place, const protocol::Receipt& receipt) {
  auto& said = words_[place.id];
  trace_.line("{} is reported as {} {} {}", place.id, name_of(receipt.status), receipt.proof, receipt.reason);
  switch (receipt.status) {
    case ReceiptStatus::Delivered:
    case ReceiptStatus::Accepted: said.proof = std::max(said.proof, parse_proof(receipt.proof)); break;
    case ReceiptStatus::Deferred: said.given_back = said.given_back || receipt.available_at != 0; break;
    case ReceiptStatus::Failed:
      if (receipt.retryable)
        said.given_back = true;
      else
        said.failed = true;
      break;
    case ReceiptStatus::InDoubt: said.doubted = true; break;
  }
}

void HistoryChecker::tells(const std::string& program, Told told, std::string& number) {
  told.newest = newest_;
  number = format("{}", alarm_.tells(program, std::move(told)));
}

void HistoryChecker::loses_session(const std::string& program, const std::set<std::string>& in_hand) {
  std::set<Key> keys;
  for (const auto& id : in_hand)
    if (const auto key = records::key_of_delivery_id(id)) keys.insert(*key);
  alarm_.session_of(program, "");
  alarm_.had_unsettled(program, std::move(keys));
}

void HistoryChecker::look_for_untouched(const std::vector<broker::RosterEntry>& roster) {
  ++looks_;
  if (const auto found = alarm_.look(roster, loop_.now())) violate_unless_damaged("ALARM: " + *found);
}

std::string HistoryChecker::some_delivery(std::uint64_t draw, bool final) const {
  std::vector<Key> keys;
  for (const auto& [key, row] : book_.rows())
    if (records::is_final(row.delivery.state) == final) keys.push_back(key);
  return keys.empty() ? std::string{} : records::delivery_id(keys[draw % keys.size()]);
}

void HistoryChecker::daemon_starts() {
  ++daemon_lives_;
  alarm_.daemon_started(loop_.now());
}

void HistoryChecker::daemon_saves(const records::Changes& changes) {
  for (const auto& change : changes)
    if (const auto* put = std::get_if<records::PutSession>(&change)) alarm_.session_opens(put->session);
}

void HistoryChecker::check_receipt(const protocol::Receipt& receipt) {
  const auto key = records::key_of_delivery_id(receipt.delivery_id);
  Row* const row = key ? book_.find(*key) : nullptr;
  if (row == nullptr)
    return violate_unless_damaged(format("a receipt tells of {}, which is not stored", receipt.delivery_id));
  for (auto at = row->told; at < row->history.size(); ++at) {
    if (!says(receipt, row->history[at])) continue;
    row->told = at + 1;
    return;
  }
  // What its session said while the store found it expired: only a last word still counts there.
  const bool late =
      row->late && (receipt.status == ReceiptStatus::Accepted || receipt.status == ReceiptStatus::Deferred);
  if (late) return;
  violate_unless_damaged(format("a receipt tells that {} is {} ({} {}), and the store does not", receipt.delivery_id,
                                name_of(receipt.status), receipt.proof, receipt.reason));
}

void HistoryChecker::daemon_says(broker::ConnectionId to, std::string_view frame) {
  const auto envelope = protocol::parse_envelope(frame);
  if (!envelope)
    return violate_unless_damaged("the daemon says a frame that cannot be read: " + envelope.error().message());
  if (envelope->type == MessageType::Ack) {
    const auto ack = protocol::parse_ack(envelope->payload);
    if (!ack || !ack->correlation_id.empty()) return;
    const auto found = by_id_.find(ack->ack_id);
    if (found != by_id_.end() && !stored_as_wished(found->second))
      violate_unless_damaged(format("the daemon acknowledges m{} before it is stored", found->second));
  } else if (envelope->type == MessageType::Deliver || envelope->type == MessageType::ChannelMessage) {
    const auto number = number_in(envelope->payload);
    if (number != 0 && !stored_.contains(number))
      violate_unless_damaged(format("the daemon delivers m{} before it is stored", number));
    const auto block = protocol::parse_delivery(envelope->delivery);
    const auto key = records::key_of_delivery_id(envelope->id);
    if (block && key) alarm_.sent(*key, to, Seq{block->seq});
  } else if (envelope->type == MessageType::Welcome) {
    if (const auto welcome = protocol::parse_welcome(envelope->payload)) alarm_.welcomed(welcome->session_id, to);
  } else if (envelope->type == MessageType::Receipt) {
    if (const auto receipt = protocol::parse_receipt(envelope->payload)) check_receipt(*receipt);
  }
}

void HistoryChecker::on_durable(const Deeds& group) {
  for (const auto& deed : group) {
    if (const auto* expired = std::get_if<records::ExpireResult>(&deed)) {
      on_expired(*expired);
      continue;
    }
    const auto& change = std::get<records::Change>(deed);
    if (const auto* message = std::get_if<records::AddMessage>(&change)) {
      newest_ = std::max(newest_, message->message.key);
      said_at_[message->message.key.value()] = message->message.ts;
      const auto number = number_in(message->message.payload);
      if (number == 0) continue;
      by_key_[message->message.key.value()] = number;
      if (!stored_.insert(number).second) violate_unless_damaged(format("m{} is stored twice", number));
      trace_.line("store: m{} is durable", number);
      const auto& saying = sayings_[number - 1];
      if (saying.wish.empty()) continue;
      auto& same = wishes_[{saying.from, saying.wish}];
      if (!same.empty()) violate_unless_damaged(format("m{} is stored though m{} had its wish", number, *same.begin()));
      same.insert(number);
    } else if (const auto* added = std::get_if<records::AddDelivery>(&change)) {
      newest_ = std::max(newest_, added->delivery.key);
      const auto found = by_key_.find(added->delivery.message.value());
      const auto number = found == by_key_.end() ? 0 : found->second;
      judge(book_.add(*added, number, said_at_[added->delivery.message.value()]));
      deliveries_[added->delivery.key.value()] = {number, added->delivery.to.value()};
      if (!records::is_final(added->delivery.state)) open(added->delivery.key.value());
    } else if (const auto* changed = std::get_if<records::ChangeDelivery>(&change)) {
      if (damaged_ && records::is_final(changed->state)) close(changed->key.value());
      Row* const row = book_.find(changed->key);
      if (row == nullptr) continue;
      const auto lines = row->history.size();
      judge(book_.change(*changed, loop_.now()));
      if (row->history.size() == lines) continue;  // it came too late
      trace_.line("store: {} is {} ({}) {}", records::delivery_id(changed->key), name_of(changed->state),
                  name_of(changed->proof), changed->reason);
      judge_end(*row, *changed);
      if (records::is_final(changed->state)) close(changed->key.value());
    } else if (const auto* back = std::get_if<records::RequeueDelivery>(&change)) {
      newest_ = std::max(newest_, back->rank);
      trace_.line("store: {} is put back: {}", records::delivery_id(back->key), back->reason);
      judge(book_.put_back(*back));
    } else if (const auto* agent = std::get_if<records::PutAgent>(&change)) {
      alarm_.agent_saved(agent->agent);
    }
  }
}

/// Nothing is said of a delivery that did not happen.
void HistoryChecker::judge_end(const Row& row, const records::ChangeDelivery& change) {
  const auto id = records::delivery_id(change.key);
  const auto& to = row.delivery.to.value();
  if (row.number == 0 || !owners_.contains(to)) return;
  const auto& said = words_[id];
  const bool host = hosts_.contains(to);
  switch (change.state) {
    case DeliveryState::Delivered:
      if (!got_.contains({row.number, to}))
        violate_unless_damaged(format("m{} is recorded as delivered to {}, which never got it", row.number, to));
      if (host && (!surfaced_.contains(id) || change.proof < Proof::Submitted))
        violate_unless_damaged(
            format("m{} ({}) is recorded as delivered to the agent of {} without evidence", row.number, id, to));
      if (change.proof > std::max(said.proof, Proof::Accepted))
        violate_unless_damaged(format("m{} ({}) is recorded as {} by {}, which never was told", row.number, id,
                                      name_of(change.proof), to));
      break;
    case DeliveryState::Failed:
      if (!said.failed) violate_unless_damaged(format("m{} ({}) failed and {} never said so", row.number, id, to));
      break;
    case DeliveryState::InDoubt:
      if (!said.doubted && change.at < row.delivery.expires_at)
        violate_unless_damaged(format("m{} ({}) is in doubt and {} has none", row.number, id, to));
      break;
    case DeliveryState::Cancelled:
      if (!cancel_wanted_.contains(id) && !change.reason.starts_with("redelivered as"))
        violate_unless_damaged(format("m{} ({}) was cancelled by nobody", row.number, id));
      break;
    case DeliveryState::Queued:
    case DeliveryState::Accepted:
    case DeliveryState::Deferred:
    case DeliveryState::Expired:
    case DeliveryState::Dead: break;
  }
}

void HistoryChecker::on_expired(const records::ExpireResult& result) {
  for (const auto& gone : result.expired) {
    const auto found = deliveries_.find(gone.delivery.value());
    if (found == deliveries_.end()) continue;
    const auto number = found->second.number;
    trace_.line("store: the delivery of m{} to {} expired", number, found->second.to);
    if (number != 0 && !sayings_[number - 1].short_ttl)
      violate_unless_damaged(format("m{} expired long before its time", number));
    judge(book_.expire(gone));
    close(gone.delivery.value());
  }
}

/// Is the commit there that the power went away in?
bool HistoryChecker::happened(store::MessageStore& store, Key newest) const {
  Key made, delivery;
  const records::ChangeDelivery* last = nullptr;
  Key expired;
  for (const auto& deed : doubtful_) {
    if (const auto* late = std::get_if<records::ExpireResult>(&deed)) {
      if (!late->expired.empty()) expired = late->expired.front().delivery;
      continue;
    }
    const auto& change = std::get<records::Change>(deed);
    if (const auto* message = std::get_if<records::AddMessage>(&change)) made = std::max(made, message->message.key);
    if (const auto* added = std::get_if<records::AddDelivery>(&change)) {
      delivery = added->delivery.key;
      made = std::max(made, delivery);
    }
    if (const auto* back = std::get_if<records::RequeueDelivery>(&change)) made = std::max(made, back->rank);
    if (const auto* changed = std::get_if<records::ChangeDelivery>(&change)) {
      const auto row = book_.rows().find(changed->key);
      const bool counts = row == book_.rows().end() || !records::is_final(row->second.delivery.state);
      if (counts) last = changed;
    }
  }
  if (damaged_ && delivery != Key{}) {  // keys go on further after a loss
    records::DeadQuery asked;
    asked.deliveries = {delivery};
    const auto row = store.dead(asked);
    return row && !row->empty();
  }
  if (made != Key{}) return newest >= made;
  if (last == nullptr && expired == Key{}) return true;  // nothing that the book would know
  records::DeadQuery asked;
  asked.deliveries = {last != nullptr ? last->key : expired};
  const auto shown = store.dead(asked);
  if (!shown || shown->empty()) return false;
  if (last == nullptr) return records::is_final(shown->front().delivery.state);
  const auto& line = shown->front().last;
  return line.state == last->state && line.proof == last->proof && line.reason == last->reason && line.at == last->at;
}

HistoryChecker::Shown HistoryChecker::pending_in(store::MessageStore& store, const records::WorkspaceState& snapshot) {
  Shown shown;
  for (const auto& backlog : snapshot.backlogs) {
    Key after;
    for (bool more = true; more;) {
      const auto page = store.backlog({backlog.to, backlog.lane, backlog.from, after, 64, 1 << 20});
      if (!page) return violate("the store cannot show what is pending: " + page.error().message()), shown;
      for (const auto& item : page->items) {
        shown[item.delivery.key.value()] = item.delivery;
        after = item.delivery.rank;
      }
      more = page->more && !page->items.empty();
    }
    if (backlog.held == 0) continue;
    records::HeldRequest asked;
    asked.to = backlog.to;
    for (bool more = true; more;) {
      const auto page = store.held(asked);
      if (!page) return violate("the store cannot show what is held: " + page.error().message()), shown;
      for (const auto& item : page->items) {
        shown[item.delivery.key.value()] = item.delivery;
        asked.after = item.delivery.key;
      }
      more = page->more;
    }
  }
  return shown;
}

void HistoryChecker::check_store(store::MessageStore& store) {
  auto snapshot = store.load();
  if (!snapshot) return violate("the store cannot be loaded: " + snapshot.error().message());
  const auto shown = pending_in(store, *snapshot);
  if (!doubtful_.empty()) {
    const bool there = happened(store, snapshot->newest);
    trace_.line("store: the commit that was cut short {}", there ? "is there" : "is not there");
    const auto group = std::exchange(doubtful_, {});
    if (there) on_durable(group);
  }
  for (const auto& agent : snapshot->agents) alarm_.agent_saved(agent);
  if (damaged_) return reconcile(store, shown);
  for (const auto key : open_)
    if (!shown.contains(key))
      violate_unless_damaged(format("the delivery of m{} to {} is neither made nor pending", deliveries_[key].number,
                                    deliveries_[key].to));
  for (const auto& [key, delivery] : shown)
    if (!open_.contains(key))
      violate_unless_damaged(format("the delivery of m{} to {} is pending though it was finished",
                                    deliveries_[key].number, deliveries_[key].to));
}

void HistoryChecker::store_damaged(const store::Damage& damage) {
  trace_.line("store: {}", damage.sentence());
  lost_told_ += damage.lost_messages;
  damaged_life_ = daemon_lives_ + 1;
}

/// From the first damage on the store says what is pending. What it does not have any more must be counted as lost.
void HistoryChecker::reconcile(store::MessageStore& store, const Shown& shown) {
  for (const auto key : std::set{open_}) {
    const auto& [number, to] = deliveries_[key];
    const auto found = shown.find(key);
    if (found != shown.end() && found->second.to.value() == to) continue;
    close(key);
    records::DeadQuery asked;
    asked.deliveries = {Key{key}};
    const auto row = store.dead(asked);
    const bool is_over = row && !row->empty() && records::is_final(row->front().delivery.state);
    const Row* const known = book_.find(Key{key});
    if (is_over || number == 0 || (known != nullptr && known->again)) continue;
    trace_.line("store: m{} to {} is gone", number, to);
    lost_.insert(number);
  }
  for (const auto& [key, delivery] : shown) {
    const auto message = by_key_.find(delivery.message.value());
    deliveries_.try_emplace(key, Delivery{message == by_key_.end() ? 0 : message->second, delivery.to.value()});
    if (deliveries_[key].to == delivery.to.value()) open(key);
  }
  if (lost_.size() > lost_told_)
    violate(format("{} acknowledged messages are gone and {} are told", lost_.size(), lost_told_));
}

void HistoryChecker::hears_status(std::uint64_t asked_in, std::string_view payload) {
  if (asked_in != daemon_lives_ || damaged_life_ != daemon_lives_) return;
  const auto status = parse_json_object(payload);
  const auto* storage = status ? object_member(*status, "storage") : nullptr;
  if (storage == nullptr || !string_member(*storage, "damage")) violate("STATUS does not tell the damage");
}

std::string HistoryChecker::unsettled() const {
  std::string text = format("{} messages unanswered, {} deliveries open:", unanswered_, open_.size());
  for (std::uint64_t number = 1; number <= sayings_.size(); ++number)
    if (sayings_[number - 1].fate == Fate::Said)
      text += format(" m{} of {} to {}", number, sayings_[number - 1].from, sayings_[number - 1].to);
  for (const auto key : open_) text += format(" m{}→{}", deliveries_.at(key).number, deliveries_.at(key).to);
  return text;
}

}  // namespace relay::simulation
