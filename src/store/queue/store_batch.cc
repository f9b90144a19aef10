#include "store/queue/store_batch.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "base/log.h"
#include "records/short_id.h"
#include "store/message_rows.h"

namespace relay::store {

using namespace records;

namespace {

using Requests = std::span<const BatchRequest>;

struct Tickets {
  CommitTicket first, last;
};

std::optional<Tickets> tickets_of(Requests requests) {
  std::optional<Tickets> tickets;
  for (const auto& request : requests) {
    const auto* persist = std::get_if<PersistRequest>(&request);
    if (persist == nullptr) continue;
    if (!tickets) tickets = Tickets{persist->ticket, persist->ticket};
    tickets->last = persist->ticket;
  }
  return tickets;
}

Reply backlog_reply(Result<BacklogPage> page, const BacklogRequest& request) {
  return [page = std::move(page), request](StoreListener& listener) mutable {
    listener.on_backlog(std::move(page), request);
  };
}

Reply expired_reply(Result<ExpireResult> result) {
  return [result = std::move(result)](StoreListener& listener) mutable { listener.on_expired(std::move(result)); };
}

struct GroupResult {
  Replies replies;
  EventSeq newest_event = 0;
  Damage damage = {};
};

/// Runs all requests in one transaction. Returns the replies, or the error that rolled it back.
Result<GroupResult> run_group(MessageStore& store, Requests requests) {
  Replies replies;
  RELAY_TRY(store.begin(durability_of(requests)));
  for (const auto& request : requests) {
    if (const auto* persist = std::get_if<PersistRequest>(&request)) {
      for (const auto& change : persist->changes) RELAY_TRY(store.apply(change));
    } else if (const auto* backlog = std::get_if<BacklogRequest>(&request)) {
      // A page that cannot be read does not fail the group.
      replies.push_back(backlog_reply(store.backlog(*backlog), *backlog));
    } else {
      auto result = RELAY_TRY(store.expire(std::get<ExpireRequest>(request)));
      result.newest_event = RELAY_TRY(store.newest_event());
      replies.push_back(expired_reply(std::move(result)));
    }
  }
  if (const auto reached = journal_reach_of(requests); reached.commits > 0)
    RELAY_TRY(store.set_journal_position(reached));
  const auto newest_event = RELAY_TRY(store.newest_event());
  RELAY_TRY(store.commit());
  return GroupResult{.replies = std::move(replies), .newest_event = newest_event};
}

/// The store has the same row. After a crash a commit may be applied a second time; after a recovery names may differ.
bool has_same_row(MessageStore& store, const Change& change) {
  if (const auto* add = std::get_if<AddMessage>(&change)) {
    const auto found = store.trace(short_id(add->message.key));
    return found && found->message.key == add->message.key && found->message.id == add->message.id &&
           found->message.payload == add->message.payload;
  }
  const auto* add = std::get_if<AddDelivery>(&change);
  if (add == nullptr) return false;
  DeliveryQuery query;
  query.deliveries = {add->delivery.key};
  const auto found = store.deliveries(query);
  return found && !found->empty() && found->front().delivery.message == add->delivery.message;
}

/// Applies each change in a separate group. A change that contradicts the store is kept in `-refused` before the store's
/// journal position includes it, because the journal drops the commit then.
Result<GroupResult> run_piecewise(MessageStore& store, const PersistRequest& request) {
  Damage damage;
  std::set<Key> refused;  // messages: another message may have the key, which must not get their deliveries
  for (const auto& change : request.changes) {
    std::string refusal = "its message was refused";
    const auto* delivery = std::get_if<AddDelivery>(&change);
    const bool is_orphan = delivery != nullptr && refused.contains(delivery->delivery.message);
    if (!is_orphan && RELAY_TRY(apply_separately(store, change, refusal))) continue;
    if (const auto* add = std::get_if<AddMessage>(&change)) refused.insert(add->message.key);
    log::error("acknowledged change contradicts the message store; kept for a retry", {{"reason", refusal}});
    damage.add(RELAY_TRY(store.keep_refused(change)));
  }
  const BatchRequest position = PersistRequest{.ticket = request.ticket,
                                               .changes = {},
                                               .journal_position = request.journal_position,
                                               .durability = request.durability};
  auto done = RELAY_TRY(run_group(store, {&position, 1}));
  done.damage = std::move(damage);
  return done;
}

void add_success(Replies& replies, Requests requests, GroupResult done) {
  if (const auto tickets = tickets_of(requests)) {
    replies.emplace_back([last = tickets->last, newest = done.newest_event](StoreListener& listener) {
      listener.on_committed(last, newest);
    });
  }
  std::move(done.replies.begin(), done.replies.end(), std::back_inserter(replies));
  if (done.damage.found())
    replies.emplace_back([damage = std::move(done.damage)](StoreListener& listener) { listener.on_damage(damage); });
}

/// Executes the requests one by one until a change fails; after that only requests without changes.
BatchOutcome one_by_one(MessageStore& store, Requests all) {
  BatchOutcome outcome;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const auto one = all.subspan(at, 1);
    const bool changes = std::holds_alternative<PersistRequest>(one.front());
    if (outcome.failed && changes) continue;
    auto& replies = outcome.failed ? outcome.after : outcome.before;
    const auto* persist = std::get_if<PersistRequest>(&one.front());
    auto done = persist != nullptr && persist->piecewise ? run_piecewise(store, *persist) : run_group(store, one);
    if (done) {
      outcome.damage.add(done->damage);
      add_success(replies, one, *std::move(done));
      continue;
    }
    store.rollback();
    if (changes) {
      const auto tickets = tickets_of(all.subspan(at));
      outcome.failed = BatchOutcome::FailedRange{tickets->first, tickets->last, done.error()};
    } else {
      add_failed_replies(replies, one, done.error());
    }
  }
  return outcome;
}

}  // namespace

Result<bool> apply_separately(MessageStore& store, const Change& change, std::string& refusal,
                              CommitDurability durability) {
  const BatchRequest one = PersistRequest{.ticket = {}, .changes = {change}, .durability = durability};
  const auto done = run_group(store, {&one, 1});
  if (done) return true;
  store.rollback();
  if (!is(done.error(), Errc::BadChange)) return Failure{done.error()};
  refusal = done.error().message();
  return has_same_row(store, change);
}

void add_failed_replies(Replies& replies, Requests requests, const Error& error) {
  for (const auto& request : requests) {
    if (const auto* backlog = std::get_if<BacklogRequest>(&request))
      replies.push_back(backlog_reply(Failure{error}, *backlog));
    if (std::holds_alternative<ExpireRequest>(request)) replies.push_back(expired_reply(Failure{error}));
  }
}

CommitDurability durability_of(Requests requests) {
  const bool needs_full = std::ranges::any_of(requests, [](const BatchRequest& request) {
    const auto* persist = std::get_if<PersistRequest>(&request);
    return persist != nullptr ? persist->durability == CommitDurability::Full
                              : std::holds_alternative<ExpireRequest>(request);
  });
  return needs_full ? CommitDurability::Full : CommitDurability::CoveredByJournal;
}

JournalReach journal_reach_of(Requests requests) {
  JournalReach reached;
  for (const auto& request : requests)
    if (const auto* persist = std::get_if<PersistRequest>(&request);
        persist != nullptr && persist->journal_position.commits > reached.commits)
      reached = persist->journal_position;
  return reached;
}

BatchOutcome execute(MessageStore& store, const std::vector<BatchRequest>& requests) {
  const Requests all{requests};
  auto done = run_group(store, all);
  BatchOutcome outcome;
  if (done) {
    add_success(outcome.before, all, *std::move(done));
    return outcome;
  }
  store.rollback();
  if (is(done.error(), Errc::BadChange)) return one_by_one(store, all);
  if (const auto tickets = tickets_of(all))
    outcome.failed = BatchOutcome::FailedRange{tickets->first, tickets->last, done.error()};
  add_failed_replies(outcome.after, all, done.error());
  return outcome;
}

Replies run_batch(MessageStore& store, const std::vector<BatchRequest>& requests) {
  auto outcome = execute(store, requests);
  auto replies = std::move(outcome.before);
  if (outcome.failed) {
    replies.emplace_back([failed = *std::move(outcome.failed)](StoreListener& listener) {
      listener.on_commit_failed(failed.first, failed.last, failed.error);
    });
  }
  std::move(outcome.after.begin(), outcome.after.end(), std::back_inserter(replies));
  return replies;
}

Result<QueryResult> run_query(MessageReader& reader, const Query& query) {
  if (const auto* messages = std::get_if<MessageQuery>(&query)) return RELAY_TRY(reader.messages(*messages));
  if (const auto* trace = std::get_if<records::TraceQuery>(&query)) return RELAY_TRY(reader.trace(trace->id));
  if (const auto* held = std::get_if<HeldRequest>(&query)) return RELAY_TRY(reader.held(*held));
  if (const auto* dead = std::get_if<DeliveryQuery>(&query)) return RELAY_TRY(reader.deliveries(*dead));
  if (const auto* events = std::get_if<EventQuery>(&query)) return RELAY_TRY(reader.events(*events));
  if (const auto* usage = std::get_if<UsageQuery>(&query)) return RELAY_TRY(reader.usage(*usage));
  if (const auto* session = std::get_if<records::SessionQuery>(&query)) return RELAY_TRY(reader.session(session->id));
  return RELAY_TRY(reader.stats());
}

std::size_t bytes_held(const Changes& changes) {
  std::size_t bytes = changes.size() * sizeof(Change);
  for (const auto& change : changes) {
    if (const auto* add = std::get_if<AddMessage>(&change)) bytes += size_of(add->message);
    if (const auto* add = std::get_if<AddEvent>(&change)) bytes += add->event.body.size();
  }
  return bytes;
}

}  // namespace relay::store
