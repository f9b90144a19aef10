#include "tests/simulation/ledger.h"

#include <charconv>

#include "base/format.h"
#include "protocol/envelope.h"
#include "protocol/send.h"

namespace relay::simulation {
namespace {

using protocol::MessageType;

/// The number in a payload whose body reads "m<number>"; 0 when it is somebody else's text.
std::uint64_t number_in(std::string_view payload) {
  constexpr std::string_view kMark = "\"body\":\"m";
  const auto at = payload.find(kMark);
  if (at == payload.npos) return 0;
  std::uint64_t number = 0;
  std::from_chars(payload.data() + at + kMark.size(), payload.data() + payload.size(), number);
  return number;
}

}  // namespace

std::string Ledger::body_of(std::uint64_t number) { return format("m{}", number); }

void Ledger::violate(const std::string& what) {
  trace_.line("VIOLATION: {}", what);
  if (!violation_) violation_ = what;
}

void Ledger::open(std::int64_t key) {
  if (open_.insert(key).second && programs_.contains(deliveries_[key].to)) ++awaited_;
}

void Ledger::close(std::int64_t key) {
  if (open_.erase(key) > 0 && programs_.contains(deliveries_[key].to)) --awaited_;
}

std::uint64_t Ledger::say(Saying saying) {
  sayings_.push_back(std::move(saying));
  ++unanswered_;
  return sayings_.size();
}

void Ledger::has_id(std::uint64_t number, const std::string& id) { by_id_[id] = number; }

void Ledger::could_not_be_said(std::uint64_t number) {
  nameless_ = true;
  doubt(number);
}

void Ledger::doubt(std::uint64_t number) {
  auto& fate = sayings_[number - 1].fate;
  if (fate != Fate::Said) return;
  fate = Fate::Doubtful;
  --unanswered_;
}

void Ledger::doubt_all_of(const std::string& program) {
  for (std::uint64_t number = 1; number <= sayings_.size(); ++number)
    if (sayings_[number - 1].from == program) doubt(number);
}

void Ledger::acknowledged(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    // A message whose program was told that its disk failed may have reached that disk all the same.
    if (!nameless_) violate(format("an acknowledgement for {}, which nobody said", id));
    return;
  }
  const auto number = found->second;
  auto& fate = sayings_[number - 1].fate;
  if (!stored_.contains(number)) violate(format("m{} ({}) was acknowledged and is not stored", number, id));
  if (fate == Fate::Refused) violate(format("m{} ({}) was refused and is now acknowledged", number, id));
  if (fate == Fate::Said) --unanswered_;
  fate = Fate::Acknowledged;
  ++acknowledged_;
}

void Ledger::refused(const std::string& id, const std::string& code) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) {
    if (!nameless_) violate(format("a refusal of {}, which nobody said", id));
    return;
  }
  const auto number = found->second;
  auto& fate = sayings_[number - 1].fate;
  if (fate == Fate::Acknowledged) violate(format("m{} ({}) was acknowledged and is now refused", number, id));
  if (stored_.contains(number)) violate(format("m{} ({}) is stored and was refused with {}", number, id, code));
  if (fate == Fate::Said) --unanswered_;
  fate = Fate::Refused;
}

void Ledger::handed_up(const std::string& program, int life, Keeps keeps, const client::Place& place,
                       std::string_view payload) {
  const auto number = number_in(payload);
  ++handed_up_;
  auto& lived = lives_[{program, life}];
  auto& seq = lived.seqs[{place.topic, place.from, place.lane}];
  if (place.seq <= seq)
    violate(format("{} got number {} of the stream from {} after {}", program, place.seq, place.from, seq));
  seq = place.seq;
  if (number == 0 || number > sayings_.size()) return;  // not said by one of our programs
  const auto& saying = sayings_[number - 1];
  if (saying.from != place.from)
    violate(format("m{} of {} reached {} as if from {}", number, saying.from, program, place.from));
  if (!stored_.contains(number)) violate(format("m{} reached {} and is not stored", number, program));
  if (!lived.numbers.insert(number).second) violate(format("m{} reached {} twice in one life", number, program));
  if (keeps == Keeps::Positions && !ever_[program].insert(number).second)
    violate(format("m{} reached {} again after its restart", number, program));
  got_.insert({number, program});
  if (!saying.ordered) return;
  // After a program forgot its positions it may hear again, in order, what it had not acknowledged.
  auto& last = last_said_[{program + (keeps == Keeps::Nothing ? format("/{}", life) : ""), place.topic, place.from}];
  if (number < last)
    violate(format("m{} reached {} after m{}, which {} said later", number, program, last, place.from));
  last = std::max(last, number);
}

void Ledger::daemon_says(std::string_view frame) {
  const auto envelope = protocol::parse_envelope(frame);
  if (!envelope) return violate("the daemon says a frame that cannot be read: " + envelope.error().message());
  if (envelope->type == MessageType::Ack) {
    const auto ack = protocol::parse_ack(envelope->payload);
    if (!ack || !ack->correlation_id.empty()) return;
    const auto found = by_id_.find(ack->ack_id);
    if (found != by_id_.end() && !stored_.contains(found->second))
      violate(format("the daemon acknowledges m{} before it is stored", found->second));
  } else if (envelope->type == MessageType::Deliver || envelope->type == MessageType::ChannelMessage) {
    const auto number = number_in(envelope->payload);
    if (number != 0 && !stored_.contains(number))
      violate(format("the daemon delivers m{} before it is stored", number));
  }
}

void Ledger::on_durable(const records::Changes& changes) {
  for (const auto& change : changes) {
    if (const auto* message = std::get_if<records::AddMessage>(&change)) {
      const auto number = number_in(message->message.payload);
      if (number == 0) continue;
      by_key_[message->message.key.value()] = number;
      if (!stored_.insert(number).second) violate(format("m{} is stored twice", number));
      trace_.line("store: m{} is durable", number);
    } else if (const auto* added = std::get_if<records::AddDelivery>(&change)) {
      const auto found = by_key_.find(added->delivery.message.value());
      const auto number = found == by_key_.end() ? 0 : found->second;
      deliveries_[added->delivery.key.value()] = {number, added->delivery.to.value()};
      if (!records::is_final(added->delivery.state)) open(added->delivery.key.value());
    } else if (const auto* changed = std::get_if<records::ChangeDelivery>(&change)) {
      const auto found = deliveries_.find(changed->key.value());
      if (found == deliveries_.end() || !records::is_final(changed->state)) continue;
      const auto& [number, to] = found->second;
      if (changed->state == records::DeliveryState::Delivered && number != 0 && owners_.contains(to) &&
          !got_.contains({number, to}))
        violate(format("m{} is recorded as delivered to {}, which never got it", number, to));
      close(changed->key.value());
    }
  }
}

void Ledger::on_expired(const records::ExpireResult& result) {
  for (const auto& gone : result.expired) {
    const auto found = deliveries_.find(gone.delivery.value());
    if (found == deliveries_.end()) continue;
    const auto number = found->second.number;
    trace_.line("store: the delivery of m{} to {} expired", number, found->second.to);
    if (number != 0 && !sayings_[number - 1].short_ttl) violate(format("m{} expired long before its time", number));
    close(gone.delivery.value());
  }
}

void Ledger::on_doubt(records::Changes changes, const std::vector<records::ExpireResult>& expired) {
  doubtful_changes_ = std::move(changes);
  doubtful_expired_ = expired;
}

std::set<std::int64_t> Ledger::pending_with_doubtful() const {
  auto pending = open_;
  for (const auto& change : doubtful_changes_) {
    if (const auto* added = std::get_if<records::AddDelivery>(&change)) {
      if (!records::is_final(added->delivery.state)) pending.insert(added->delivery.key.value());
    } else if (const auto* changed = std::get_if<records::ChangeDelivery>(&change)) {
      if (records::is_final(changed->state)) pending.erase(changed->key.value());
    }
  }
  for (const auto& result : doubtful_expired_)
    for (const auto& gone : result.expired) pending.erase(gone.delivery.value());
  return pending;
}

void Ledger::check_store(store::MessageStore& store) {
  auto snapshot = store.load();
  if (!snapshot) return violate("the store cannot be loaded: " + snapshot.error().message());
  std::set<std::int64_t> shown;
  for (const auto& backlog : snapshot->backlogs) {
    Key after;
    for (bool more = true; more;) {
      const auto page = store.backlog({backlog.to, backlog.lane, backlog.from, after, 64, 1 << 20});
      if (!page) return violate("the store cannot show what is pending: " + page.error().message());
      for (const auto& item : page->items) {
        shown.insert(item.delivery.key.value());
        after = item.delivery.rank;
      }
      more = page->more && !page->items.empty();
    }
    if (backlog.held == 0) continue;
    records::HeldRequest asked;
    asked.to = backlog.to;
    for (bool more = true; more;) {
      const auto page = store.held(asked);
      if (!page) return violate("the store cannot show what is held: " + page.error().message());
      for (const auto& item : page->items) {
        shown.insert(item.delivery.key.value());
        asked.after = item.delivery.key;
      }
      more = page->more;
    }
  }
  if (!doubtful_changes_.empty()) {
    std::int64_t newest = 0;
    for (const auto& change : doubtful_changes_)
      if (const auto* message = std::get_if<records::AddMessage>(&change)) newest = message->message.key.value();
    const bool happened = newest != 0 ? snapshot->newest.value() >= newest : shown == pending_with_doubtful();
    trace_.line("store: the commit that was cut short {}", happened ? "is there" : "is not there");
    if (happened) {
      on_durable(doubtful_changes_);
      for (const auto& result : doubtful_expired_) on_expired(result);
    }
    doubtful_changes_.clear();
  }
  if (shown == open_) return;
  for (const auto key : open_)
    if (!shown.contains(key))
      violate(format("the delivery of m{} to {} is neither made nor pending", deliveries_[key].number,
                     deliveries_[key].to));
  for (const auto key : shown)
    if (!open_.contains(key))
      violate(format("the delivery of m{} to {} is pending though it was finished", deliveries_[key].number,
                     deliveries_[key].to));
}

std::string Ledger::unsettled() const {
  std::string text = format("{} messages unanswered, {} deliveries open:", unanswered_, open_.size());
  for (std::uint64_t number = 1; number <= sayings_.size(); ++number)
    if (sayings_[number - 1].fate == Fate::Said)
      text += format(" m{} of {} to {}", number, sayings_[number - 1].from, sayings_[number - 1].to);
  for (const auto key : open_) text += format(" m{}→{}", deliveries_.at(key).number, deliveries_.at(key).to);
  return text;
}

void Ledger::check_end() {
  std::set<std::pair<std::uint64_t, std::string>> addressed;
  for (const auto& [key, delivery] : deliveries_) addressed.insert({delivery.number, delivery.to});
  for (std::uint64_t number = 1; number <= sayings_.size(); ++number) {
    const auto& saying = sayings_[number - 1];
    const bool direct = saying.to != "*" && !saying.to.starts_with('#');
    if (saying.fate == Fate::Acknowledged && direct && !saying.short_ttl && !got_.contains({number, saying.to}))
      violate(format("m{} was acknowledged and never reached {}", number, saying.to));
  }
  for (const auto& [number, program] : got_)
    if (!addressed.contains({number, program}))
      violate(format("m{} reached {}, to whom it was not addressed", number, program));
}

}  // namespace relay::simulation
