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

/// The number in a payload whose body reads "m<number>"; 0 for any other text.
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

bool matches(const protocol::Receipt& receipt, const Entry& entry) {
  switch (receipt.status) {
    case ReceiptStatus::Accepted:
      return entry.state == DeliveryState::Accepted && receipt.proof == name_of(entry.proof);
    case ReceiptStatus::Delivered:
      return entry.state == DeliveryState::Delivered && receipt.proof == name_of(entry.proof);
    case ReceiptStatus::Deferred: return entry.state == DeliveryState::Deferred && receipt.reason == entry.reason;
    case ReceiptStatus::InDoubt: return entry.state == DeliveryState::InDoubt;
    case ReceiptStatus::Failed:
      return entry.state == DeliveryState::Failed || entry.state == DeliveryState::Dead ||
             entry.state == DeliveryState::Cancelled ||
             (entry.state == DeliveryState::Expired && receipt.code == name_of(protocol::NackCode::Expired));
  }
  return false;
}

}  // namespace

std::string HistoryChecker::body_of(std::uint64_t number, std::size_t filler) {
  return format("m{}", number) + (filler > 0 ? " " + std::string(filler, 'y') : "");
}

std::string HistoryChecker::sent_body(std::uint64_t number) const {
  if (number == 0 || number > messages_.size()) return {};
  return body_of(number, messages_[number - 1].filler);
}

bool HistoryChecker::is_paused_since_stored(std::uint64_t number, const std::string& agent) const {
  const auto at = paused_at_.find({number, agent});
  const auto pause = pauses_.find(agent);
  return at != paused_at_.end() && pause != pauses_.end() && pause->second.paused && !pause->second.unpause_requested &&
         pause->second.count == at->second;
}

void HistoryChecker::violate(const std::string& what) {
  trace_.line("VIOLATION: {}", what);
  if (!violation_) violation_ = what;
}

void HistoryChecker::violate_unless_damaged(const std::string& what) {
  if (!damaged_) violate(what);
}

void HistoryChecker::report_violation(const std::optional<std::string>& violation) {
  if (violation) violate_unless_damaged(*violation);
}

void HistoryChecker::open(std::int64_t key) {
  if (open_.insert(key).second && clients_.contains(deliveries_[key].to)) ++awaited_;
}

void HistoryChecker::close(std::int64_t key) {
  if (open_.erase(key) > 0 && clients_.contains(deliveries_[key].to)) --awaited_;
}

std::uint64_t HistoryChecker::on_send(SentMessage message) {
  messages_.push_back(std::move(message));
  ++unanswered_;
  return messages_.size();
}

void HistoryChecker::on_id(std::uint64_t number, const std::string& id) { by_id_[id] = number; }

void HistoryChecker::on_send_failed(std::uint64_t number) {
  has_unnumbered_ = true;
  doubt(number);
}

void HistoryChecker::doubt(std::uint64_t number) {
  auto& status = messages_[number - 1].status;
  if (status != SendStatus::Sent) return;
  status = SendStatus::Unknown;
  --unanswered_;
}

void HistoryChecker::mark_unknown(const std::string& client) {
  for (std::uint64_t number = 1; number <= messages_.size(); ++number)
    if (messages_[number - 1].from == client) doubt(number);
}

void HistoryChecker::on_ack(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    // A message whose client got an error of its disk may have reached that disk all the same.
    if (!has_unnumbered_) violate_unless_damaged(format("an ACK for {}, which no client sent", id));
    return;
  }
  const auto number = found->second;
  auto& status = messages_[number - 1].status;
  if (!is_stored(number)) violate_unless_damaged(format("m{} ({}) was acknowledged and is not stored", number, id));
  if (status == SendStatus::Refused)
    violate_unless_damaged(format("m{} ({}) was refused and is now acknowledged", number, id));
  if (status == SendStatus::Sent) --unanswered_;
  status = SendStatus::Acknowledged;
  ++acknowledged_;
}

void HistoryChecker::on_nack(const std::string& id, const std::string& code) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    if (!has_unnumbered_) violate_unless_damaged(format("a NACK for {}, which no client sent", id));
    return;
  }
  const auto number = found->second;
  auto& status = messages_[number - 1].status;
  if (status == SendStatus::Acknowledged)
    violate_unless_damaged(format("m{} ({}) was acknowledged and is now refused", number, id));
  if (stored_.contains(number))
    violate_unless_damaged(format("m{} ({}) is stored and was refused with {}", number, id, code));
  if (status == SendStatus::Sent) --unanswered_;
  status = SendStatus::Refused;
}

void HistoryChecker::on_received(const std::string& client, int process, Memory memory, const client::DeliveryRef& ref,
                                 std::string_view payload) {
  const auto number = number_in(payload);
  ++received_count_;
  auto& seen_by_process = process_count_[{client, process}];
  auto& seq = seen_by_process.seqs[{ref.topic, ref.from, ref.lane}];
  if (ref.seq <= seq)
    violate_unless_damaged(format("{} got number {} of the stream from {} after {}", client, ref.seq, ref.from, seq));
  seq = ref.seq;
  if (number > messages_.size()) return violate(format("m{} reached {} and no client sent it", number, client));
  if (number == 0) return;  // not sent by a client of the simulation
  received_.insert({number, client});
  const auto& message = messages_[number - 1];
  if (message.from != ref.from)
    violate_unless_damaged(format("m{} of {} reached {} as if from {}", number, message.from, client, ref.from));
  if (!stored_.contains(number)) violate_unless_damaged(format("m{} reached {} and is not stored", number, client));
  const auto key = records::key_of_delivery_id(ref.id);
  const Row* const row = key ? model_.find(*key) : nullptr;
  if (row == nullptr)
    return violate_unless_damaged(format("m{} reached {} as {}, which is not stored", number, client, ref.id));
  // It may come again when its session returned it, or when the operator redelivered it under another id.
  const auto may_repeat = [&](std::string& before) {
    const bool repeated = before != ref.id ? row->redelivered : outcomes_[ref.id].returned;
    before = ref.id;
    return repeated;
  };
  const auto [previous, first] = seen_by_process.numbers.try_emplace(number, ref.id);
  const auto [ever, first_ever] = received_ever_[client].try_emplace(number, ref.id);
  const bool requeued = ever->second == ref.id && row->requeues > 0;  // perhaps while no session had it
  if (!first && !may_repeat(previous->second))
    violate_unless_damaged(format("m{} reached {} twice in one process", number, client));
  if (!first_ever && !may_repeat(ever->second) && !requeued && memory == Memory::Positions)
    violate_unless_damaged(format("m{} reached {} again after its restart", number, client));
  outcomes_[ref.id].returned = false;
  // A requeued one comes after those that were sent later.
  if (!message.ordered || row->requeues > 0 || row->redelivered || row->held) return;
  // A client without its positions may get again, in order, what it had not acknowledged.
  check_order(client + (memory == Memory::Nothing ? format("/{}", process) : ""), ref, number);
}

void HistoryChecker::check_order(const std::string& reader, const client::DeliveryRef& ref, std::uint64_t number) {
  auto& last = last_sent_[{reader, ref.topic, ref.from, ref.lane}];
  if (number < last)
    violate_unless_damaged(format("m{} reached {} after m{}, which {} sent later", number, reader, last, ref.from));
  last = std::max(last, number);
}

bool HistoryChecker::is_stored(std::uint64_t number) const {
  const auto& message = messages_[number - 1];
  return stored_.contains(number) || (!message.key.empty() && keys_.contains({message.from, message.key}));
}

void HistoryChecker::on_injected(const std::string& client, const client::DeliveryRef& ref) {
  const auto key = records::key_of_delivery_id(ref.id);
  const Row* const row = key ? model_.find(*key) : nullptr;
  trace_.line("{} injects {}", client, ref.id);
  if (row == nullptr) return violate_unless_damaged(format("{} injected {}, which is not stored", client, ref.id));
  if (!injected_.insert(ref.id).second)
    violate_unless_damaged(format("m{} ({}) was injected by {} twice", row->number, ref.id, client));
  if (row->redelivered) return;
  for (const auto& [other, its] : model_.rows())
    if (other != row->delivery.key && its.number == row->number && row->number != 0 && !its.redelivered &&
        its.delivery.to == row->delivery.to && injected_.contains(records::delivery_id(other)))
      violate_unless_damaged(format("m{} was injected by {} under two ids", row->number, client));
}

void HistoryChecker::on_report(const client::DeliveryRef& ref, const protocol::Receipt& receipt) {
  auto& outcome = outcomes_[ref.id];
  trace_.line("{} is reported as {} {} {}", ref.id, name_of(receipt.status), receipt.proof, receipt.reason);
  switch (receipt.status) {
    case ReceiptStatus::Delivered:
    case ReceiptStatus::Accepted: outcome.proof = std::max(outcome.proof, parse_proof(receipt.proof)); break;
    case ReceiptStatus::Deferred: outcome.returned = outcome.returned || receipt.available_at != 0; break;
    case ReceiptStatus::Failed:
      if (receipt.retryable)
        outcome.returned = true;
      else
        outcome.failed = true;
      break;
    case ReceiptStatus::InDoubt: outcome.in_doubt = true; break;
  }
}

void HistoryChecker::on_session_report(const std::string& client, SessionReport report, std::string& number) {
  report.newest = newest_;
  number = format("{}", liveness_.on_session_report(client, std::move(report)));
}

void HistoryChecker::on_session_lost(const std::string& client, const std::set<std::string>& unsettled) {
  std::set<Key> keys;
  for (const auto& id : unsettled)
    if (const auto key = records::key_of_delivery_id(id)) keys.insert(*key);
  liveness_.set_session(client, "");
  liveness_.set_unsettled(client, std::move(keys));
}

void HistoryChecker::check_pending(const std::vector<broker::RosterEntry>& roster) {
  ++check_count_;
  if (const auto found = liveness_.find_stuck(roster, loop_.now())) violate_unless_damaged("stuck: " + *found);
}

std::string HistoryChecker::some_delivery(std::uint64_t draw, bool final) const {
  std::vector<Key> keys;
  for (const auto& [key, row] : model_.rows())
    if (records::is_final(row.delivery.state) == final) keys.push_back(key);
  return keys.empty() ? std::string{} : records::delivery_id(keys[draw % keys.size()]);
}

void HistoryChecker::on_daemon_start() {
  ++daemon_starts_;
  liveness_.daemon_started(loop_.now());
}

void HistoryChecker::on_daemon_commit(const records::Changes& changes) {
  for (const auto& change : changes)
    if (const auto* put = std::get_if<records::PutSession>(&change)) liveness_.on_session_opened(put->session);
}

void HistoryChecker::check_receipt(const protocol::Receipt& receipt) {
  const auto key = records::key_of_delivery_id(receipt.delivery_id);
  Row* const row = key ? model_.find(*key) : nullptr;
  if (row == nullptr)
    return violate_unless_damaged(format("a receipt for {}, which is not stored", receipt.delivery_id));
  for (auto at = row->reported; at < row->history.size(); ++at) {
    if (!matches(receipt, row->history[at])) continue;
    row->reported = at + 1;
    return;
  }
  // The session reported it while the store expired it: only a final receipt still counts then.
  const bool late =
      row->expired && (receipt.status == ReceiptStatus::Accepted || receipt.status == ReceiptStatus::Deferred);
  if (late) return;
  violate_unless_damaged(format("a receipt reports that {} is {} ({} {}), and the store does not have it",
                                receipt.delivery_id, name_of(receipt.status), receipt.proof, receipt.reason));
}

void HistoryChecker::on_daemon_frame(broker::ConnectionId to, std::string_view frame) {
  const auto envelope = protocol::parse_envelope(frame);
  if (!envelope)
    return violate_unless_damaged("the daemon sends a frame that cannot be parsed: " + envelope.error().message());
  if (envelope->type == MessageType::Ack) {
    const auto ack = protocol::parse_ack(envelope->payload);
    if (!ack || !ack->correlation_id.empty()) return;
    const auto found = by_id_.find(ack->ack_id);
    if (found != by_id_.end() && !is_stored(found->second))
      violate_unless_damaged(format("the daemon acknowledges m{} before it is stored", found->second));
  } else if (envelope->type == MessageType::Deliver || envelope->type == MessageType::ChannelMessage) {
    const auto number = number_in(envelope->payload);
    if (number != 0 && !stored_.contains(number))
      violate_unless_damaged(format("the daemon delivers m{} before it is stored", number));
    const auto block = protocol::parse_delivery(envelope->delivery);
    const auto key = records::key_of_delivery_id(envelope->id);
    if (block && key) liveness_.sent(*key, to, Seq{block->seq});
  } else if (envelope->type == MessageType::Welcome) {
    if (const auto welcome = protocol::parse_welcome(envelope->payload)) liveness_.on_welcome(welcome->session_id, to);
  } else if (envelope->type == MessageType::Receipt) {
    if (const auto receipt = protocol::parse_receipt(envelope->payload)) check_receipt(*receipt);
  }
}

void HistoryChecker::on_durable(const StoreChanges& group) {
  for (const auto& stored : group) {
    if (const auto* expired = std::get_if<records::ExpireResult>(&stored)) {
      on_expired(*expired);
      continue;
    }
    const auto& change = std::get<records::Change>(stored);
    if (const auto* made = std::get_if<records::AddMessage>(&change)) {
      newest_ = std::max(newest_, made->message.key);
      sent_at_[made->message.key.value()] = made->message.ts;
      const auto number = number_in(made->message.payload);
      if (number == 0) continue;
      by_key_[made->message.key.value()] = number;
      if (!stored_.insert(number).second) violate_unless_damaged(format("m{} is stored twice", number));
      trace_.line("store: m{} is durable", number);
      const auto& message = messages_[number - 1];
      if (message.key.empty()) continue;
      auto& same = keys_[{message.from, message.key}];
      if (!same.empty())
        violate_unless_damaged(format("m{} is stored, and m{} with the same key was", number, *same.begin()));
      same.insert(number);
    } else if (const auto* added = std::get_if<records::AddDelivery>(&change)) {
      newest_ = std::max(newest_, added->delivery.key);
      const auto found = by_key_.find(added->delivery.message.value());
      const auto number = found == by_key_.end() ? 0 : found->second;
      report_violation(model_.add(*added, number, sent_at_[added->delivery.message.value()]));
      deliveries_[added->delivery.key.value()] = {number, added->delivery.to.value()};
      if (const auto pause = pauses_.find(added->delivery.to.value()); pause != pauses_.end() && pause->second.paused)
        paused_at_[{number, pause->first}] = pause->second.count;
      if (!records::is_final(added->delivery.state)) open(added->delivery.key.value());
    } else if (const auto* changed = std::get_if<records::ChangeDelivery>(&change)) {
      if (damaged_ && records::is_final(changed->state)) close(changed->key.value());
      Row* const row = model_.find(changed->key);
      if (row == nullptr) continue;
      const auto lines = row->history.size();
      report_violation(model_.change(*changed, loop_.now()));
      if (row->history.size() == lines) continue;  // it was final
      trace_.line("store: {} is {} ({}) {}", records::delivery_id(changed->key), name_of(changed->state),
                  name_of(changed->proof), changed->reason);
      check_end_state(*row, *changed);
      if (records::is_final(changed->state)) close(changed->key.value());
    } else if (const auto* back = std::get_if<records::RequeueDelivery>(&change)) {
      newest_ = std::max(newest_, back->rank);
      trace_.line("store: {} is requeued: {}", records::delivery_id(back->key), back->reason);
      report_violation(model_.requeue(*back));
    } else if (const auto* agent = std::get_if<records::PutAgent>(&change)) {
      liveness_.on_agent_stored(agent->agent);
      auto& pause = pauses_[agent->agent.name.value()];
      if (std::exchange(pause.paused, agent->agent.paused) != agent->agent.paused) {
        ++pause.count;
        pause.unpause_requested = false;
      }
    }
  }
}

/// A final state has a cause.
void HistoryChecker::check_end_state(const Row& row, const records::ChangeDelivery& change) {
  const auto id = records::delivery_id(change.key);
  const auto& to = row.delivery.to.value();
  if (row.number == 0 || !owners_.contains(to)) return;
  const auto& outcome = outcomes_[id];
  const bool host = hosts_.contains(to);
  switch (change.state) {
    case DeliveryState::Delivered:
      if (!received_.contains({row.number, to}))
        violate_unless_damaged(format("m{} is recorded as delivered to {}, which never got it", row.number, to));
      if (host && (!injected_.contains(id) || change.proof < Proof::Submitted))
        violate_unless_damaged(
            format("m{} ({}) is recorded as delivered to the agent of {} without evidence", row.number, id, to));
      if (change.proof > std::max(outcome.proof, Proof::Accepted))
        violate_unless_damaged(
            format("m{} ({}) is recorded as {} by {}, without a report", row.number, id, name_of(change.proof), to));
      break;
    case DeliveryState::Failed:
      if (!outcome.failed)
        violate_unless_damaged(format("m{} ({}) failed and {} never reported it", row.number, id, to));
      break;
    case DeliveryState::InDoubt:
      if (!outcome.in_doubt && change.at < row.delivery.expires_at &&
          !(cancel_requests_.contains(id) && change.reason.starts_with("cancelled by")))
        violate_unless_damaged(format("m{} ({}) is in doubt without a report of {}", row.number, id, to));
      break;
    case DeliveryState::Cancelled:
      if (!cancel_requests_.contains(id) && !change.reason.starts_with("redelivered as"))
        violate_unless_damaged(format("m{} ({}) was cancelled without a request", row.number, id));
      break;
    case DeliveryState::Queued:
    case DeliveryState::Accepted:
    case DeliveryState::Deferred:
    case DeliveryState::Expired:
    case DeliveryState::Dead: break;
  }
}

void HistoryChecker::on_expired(const records::ExpireResult& result) {
  for (const auto& expired : result.expired) {
    const auto found = deliveries_.find(expired.delivery.value());
    if (found == deliveries_.end()) continue;
    const auto number = found->second.number;
    trace_.line("store: the delivery of m{} to {} expired", number, found->second.to);
    if (number != 0 && !messages_[number - 1].short_ttl)
      violate_unless_damaged(format("m{} expired too early", number));
    report_violation(model_.expire(expired));
    close(expired.delivery.value());
  }
}

/// Whether the commit that the power cut interrupted is stored.
bool HistoryChecker::is_commit_stored(store::MessageStore& store, Key newest) const {
  Key made, delivery;
  const records::ChangeDelivery* last = nullptr;
  Key expired;
  for (const auto& stored : doubtful_) {
    if (const auto* late = std::get_if<records::ExpireResult>(&stored)) {
      if (!late->expired.empty()) expired = late->expired.front().delivery;
      continue;
    }
    const auto& change = std::get<records::Change>(stored);
    if (const auto* message = std::get_if<records::AddMessage>(&change)) made = std::max(made, message->message.key);
    if (const auto* added = std::get_if<records::AddDelivery>(&change)) {
      delivery = added->delivery.key;
      made = std::max(made, delivery);
    }
    if (const auto* back = std::get_if<records::RequeueDelivery>(&change)) made = std::max(made, back->rank);
    if (const auto* changed = std::get_if<records::ChangeDelivery>(&change)) {
      const auto row = model_.rows().find(changed->key);
      const bool counts = row == model_.rows().end() || !records::is_final(row->second.delivery.state);
      if (counts) last = changed;
    }
  }
  if (damaged_ && delivery != Key{}) {  // keys continue above the lost ones
    records::DeliveryQuery query;
    query.deliveries = {delivery};
    const auto row = store.deliveries(query);
    return row && !row->empty();
  }
  if (made != Key{}) return newest >= made;
  if (last == nullptr && expired == Key{}) return true;  // nothing in the model
  records::DeliveryQuery query;
  query.deliveries = {last != nullptr ? last->key : expired};
  const auto pending = store.deliveries(query);
  if (!pending || pending->empty()) return false;
  if (last == nullptr) return records::is_final(pending->front().delivery.state);
  const auto& line = pending->front().last;
  return line.state == last->state && line.proof == last->proof && line.reason == last->reason && line.at == last->at;
}

HistoryChecker::PendingRows HistoryChecker::pending_in(store::MessageStore& store,
                                                       const records::WorkspaceState& snapshot) {
  PendingRows pending;
  for (const auto& backlog : snapshot.backlogs) {
    Key after;
    for (bool more = true; more;) {
      const auto page = store.backlog({backlog.to, backlog.lane, backlog.from, after, 64, 1 << 20});
      if (!page) return violate("the store cannot show what is pending: " + page.error().message()), pending;
      for (const auto& item : page->items) {
        pending[item.delivery.key.value()] = item.delivery;
        after = item.delivery.rank;
      }
      more = page->more && !page->items.empty();
    }
    if (backlog.held == 0) continue;
    records::HeldRequest query;
    query.to = backlog.to;
    for (bool more = true; more;) {
      const auto page = store.held(query);
      if (!page) return violate("the store cannot show what is held: " + page.error().message()), pending;
      for (const auto& item : page->items) {
        pending[item.delivery.key.value()] = item.delivery;
        query.after = item.delivery.key;
      }
      more = page->more;
    }
  }
  return pending;
}

void HistoryChecker::check_store(store::MessageStore& store) {
  auto snapshot = store.load();
  if (!snapshot) return violate("the store cannot be loaded: " + snapshot.error().message());
  const auto pending = pending_in(store, *snapshot);
  if (!doubtful_.empty()) {
    const bool stored = is_commit_stored(store, snapshot->newest);
    trace_.line("store: the interrupted commit {}", stored ? "is stored" : "is lost");
    const auto group = std::exchange(doubtful_, {});
    if (stored) on_durable(group);
  }
  for (const auto& agent : snapshot->agents) liveness_.on_agent_stored(agent);
  if (damaged_) return reconcile(store, pending);
  for (const auto key : open_)
    if (!pending.contains(key))
      violate_unless_damaged(format("the delivery of m{} to {} is neither made nor pending", deliveries_[key].number,
                                    deliveries_[key].to));
  for (const auto& [key, delivery] : pending)
    if (!open_.contains(key))
      violate_unless_damaged(format("the delivery of m{} to {} is pending though it was finished",
                                    deliveries_[key].number, deliveries_[key].to));
}

void HistoryChecker::on_store_damage(const store::Damage& damage) {
  trace_.line("store: {}", damage.message());
  reported_lost_ += damage.lost_messages;
  damaged_start_ = daemon_starts_ + 1;
}

/// After damage the pending deliveries are those of the store. What it has lost must be counted as lost.
void HistoryChecker::reconcile(store::MessageStore& store, const PendingRows& pending) {
  for (const auto key : std::set{open_}) {
    const auto& [number, to] = deliveries_[key];
    const auto found = pending.find(key);
    if (found != pending.end() && found->second.to.value() == to) continue;
    close(key);
    records::DeliveryQuery query;
    query.deliveries = {Key{key}};
    const auto row = store.deliveries(query);
    const bool is_final = row && !row->empty() && records::is_final(row->front().delivery.state);
    const Row* const known = model_.find(Key{key});
    if (is_final || number == 0 || (known != nullptr && known->redelivered)) continue;
    trace_.line("store: m{} to {} is lost", number, to);
    lost_.insert(number);
  }
  for (const auto& [key, delivery] : pending) {
    const auto message = by_key_.find(delivery.message.value());
    deliveries_.try_emplace(key, Delivery{message == by_key_.end() ? 0 : message->second, delivery.to.value()});
    if (deliveries_[key].to == delivery.to.value()) open(key);
  }
  if (lost_.size() > reported_lost_)
    violate(format("{} acknowledged messages are lost and {} are reported", lost_.size(), reported_lost_));
}

void HistoryChecker::on_status(std::uint64_t requested_in, std::string_view payload) {
  if (requested_in != daemon_starts_ || damaged_start_ != daemon_starts_) return;
  const auto status = parse_json_object(payload);
  const auto* storage = status ? object_member(*status, "storage") : nullptr;
  if (storage == nullptr || !string_member(*storage, "damage")) violate("STATUS does not report the damage");
}

std::string HistoryChecker::unsettled() const {
  std::string text = format("{} messages unanswered, {} deliveries open:", unanswered_, open_.size());
  for (std::uint64_t number = 1; number <= messages_.size(); ++number)
    if (messages_[number - 1].status == SendStatus::Sent)
      text += format(" m{} of {} to {}", number, messages_[number - 1].from, messages_[number - 1].to);
  for (const auto key : open_) text += format(" m{}→{}", deliveries_.at(key).number, deliveries_.at(key).to);
  return text;
}

}  // namespace relay::simulation
