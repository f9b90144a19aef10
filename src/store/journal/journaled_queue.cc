#include "store/journal/journaled_queue.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "records/change_codec.h"
#include "store/queue/store_batch.h"

namespace relay::store {
namespace {

using namespace records;

constexpr std::chrono::milliseconds kRetryDelay{1'000};
constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;  // about: a larger record is flushed at once

/// The only change of the broker that the store may refuse is a delivery of a message that the store does not have.
bool may_be_refused(const Changes& changes) {
  Key message;
  return std::ranges::any_of(changes, [&](const Change& change) {
    if (const auto* add = std::get_if<AddMessage>(&change)) message = add->message.key;
    const auto* add = std::get_if<AddDelivery>(&change);
    return add != nullptr && add->delivery.message != message;
  });
}

}  // namespace

JournaledStoreQueue::JournaledStoreQueue(std::unique_ptr<Journal> journal, const MakeWriter& make_writer,
                                         const MakeQueue& make_queue, const PostTask& post,
                                         PostDelayedTask post_delayed, StoreListener& listener)
    : listener_{listener},
      // A task that is posted before the destructor and runs after it does nothing.
      post_{[post, alive = lifetime_.watch()](Task task) {
        post([alive, task = std::move(task)]() mutable {
          if (alive) task();
        });
      }},
      post_delayed_{std::move(post_delayed)},
      journal_{std::move(journal)},
      backing_{make_queue(post_, *this)},
      writer_{make_writer(*journal_, *this, post_)},
      started_after_{journal_->newest()},
      journaled_{journal_->reach()},
      forwarded_{journaled_} {}

JournaledStoreQueue::~JournaledStoreQueue() {
  stopped_ = true;
  flush();
  writer_->stop();
  // An empty request with full durability: it makes all earlier commits of the store durable.
  if (forwarded_.commits > started_after_ && reapply())
    backing_->apply({{.ticket = {}, .changes = {}, .journal_position = journaled_}});
  backing_->stop();
  lifetime_.end();
  const auto newest = journal_->newest();
  const bool done = newest == started_after_ || newest <= backing_->durable_position();
  backing_.reset();  // closes the database, which checkpoints its write-ahead log
  if (done) journal_->discard();
}

void JournaledStoreQueue::persist(CommitTicket ticket, Changes changes, CommitMode mode) {
  if (failure_) {  // behind a failure that is not reported to the listener yet
    failure_->last = ticket;
    return;
  }
  if (last_direct_ || open_expiries_ > 0 || stuck_ || unsure_ || may_be_refused(changes)) {
    last_direct_ = ticket;
    return forward(PersistRequest{.ticket = ticket, .changes = std::move(changes)});
  }
  if (batch_.empty()) record_ = {.bytes = std::string(Journal::kFrameBytes, '\0'), .mode = CommitMode::Piggyback};
  encode(changes, record_.bytes);
  ++record_.commits;
  record_.messages += messages_in(changes);
  if (mode == CommitMode::Immediate) record_.mode = CommitMode::Immediate;
  batch_.push_back({.ticket = ticket, .changes = std::move(changes), .durability = CommitDurability::CoveredByJournal});
  if (record_.bytes.size() >= kMaxRecordBytes) flush();
  flush_soon();
}

void JournaledStoreQueue::load_backlog(BacklogRequest request) {
  forward([this, request = std::move(request)](BackingQueue& queue) mutable {
    if (auto done = reapply(); done)
      return queue.load_backlog(std::move(request));
    else
      post_([this, request, error = done.error()] { listener_.on_backlog(Failure{error}, request); });
  });
}

void JournaledStoreQueue::expire(ExpireRequest request) {
  ++open_expiries_;
  forward([this, request](BackingQueue& queue) {
    if (auto done = reapply(); done)
      return queue.expire(request);
    else
      post_([this, error = done.error()] { on_expired(Failure{error}); });
  });
}

void JournaledStoreQueue::query(QueryId id, Query query) {
  forward([this, id, query = std::move(query)](BackingQueue& queue) mutable {
    open_queries_.emplace(id, forwarded_.commits);
    queue.query(id, std::move(query));
  });
}

void JournaledStoreQueue::prune(Retention retention, WallMs now) { backing_->prune(retention, now); }

bool JournaledStoreQueue::idle() const {
  return batch_.empty() && pipeline_.empty() && unapplied_.empty() && !unreported_ && !failure_ && !last_direct_ &&
         open_expiries_ == 0 && early_results_.empty();
}

void JournaledStoreQueue::flush_soon() {
  if (std::exchange(flush_scheduled_, true)) return;
  post_([this] {
    flush_scheduled_ = false;
    flush();
    notify();
  });
}

void JournaledStoreQueue::flush() {
  if (batch_.empty()) return;
  pipeline_.emplace_back(std::exchange(batch_, {}));
  flushing_ = true;
  writer_->write(std::exchange(record_, {}));
  flushing_ = false;
}

/// Queues the work behind every earlier request.
void JournaledStoreQueue::forward(std::variant<PersistRequest, Forward> work) {
  record_.mode = CommitMode::Immediate;
  flush();
  std::visit([this](auto& one) { pipeline_.emplace_back(std::move(one)); }, work);
  advance();
  if (unreported_ || failure_) flush_soon();
}

void JournaledStoreQueue::advance() {
  while (!pipeline_.empty()) {
    auto& front = pipeline_.front();
    if (std::holds_alternative<Batch>(front) && written_ == 0) return;
    auto work = std::move(front);
    pipeline_.pop_front();
    if (auto* batch = std::get_if<Batch>(&work)) {
      --written_;
      on_journaled(std::move(*batch));
    } else if (auto* direct = std::get_if<PersistRequest>(&work)) {
      execute(std::move(*direct));
    } else {
      std::get<Forward>(work)(*backing_);
    }
  }
}

void JournaledStoreQueue::execute(PersistRequest direct) {
  if (failure_) {
    failure_->last = direct.ticket;
    return;
  }
  auto done = journal_->erase_rolled_back();
  if (done) done = reapply();
  if (!done) {
    failure_ = UnreportedFailure{direct.ticket, direct.ticket, done.error()};
    last_direct_.reset();
    return flush_soon();
  }
  direct.journal_position = forwarded_ = {forwarded_.commits + 1, forwarded_.messages + messages_in(direct.changes)};
  direct_.push_back({direct.ticket, forwarded_, 0, direct.durability});
  std::vector<PersistRequest> one;
  one.push_back(std::move(direct));
  backing_->apply(std::move(one));
}

/// The journal has these commits: reports them and passes them to the store.
void JournaledStoreQueue::on_journaled(Batch batch) {
  for (auto& request : batch) {
    forwarded_ = {forwarded_.commits + 1, forwarded_.messages + messages_in(request.changes)};
    request.journal_position = journaled_ = forwarded_;
    unapplied_.push_back({request.ticket, forwarded_, bytes_held(request.changes), request.durability});
    unapplied_bytes_ += unapplied_.back().bytes;
  }
  // A new segment has started: the earlier ones are free once the store has their commits for good.
  if (const auto segment = journal_->newest_segment(); segment > sealed_ && segment <= forwarded_.commits) {
    sealed_ = segment;
    batch.back().durability = unapplied_.back().durability = CommitDurability::Full;
  }
  unreported_ = batch.back().ticket;
  if (!stuck_) backing_->apply(std::move(batch));
}

/// Reads the commits that the store could not apply from the journal and passes them to the store again.
Result<void> JournaledStoreQueue::reapply() {
  if (!std::exchange(stuck_, false) || unapplied_.empty()) return {};
  std::vector<PersistRequest> again;
  auto next = unapplied_.begin();
  auto read = journal_->read(next->reach.commits - 1, [&](JournalReach reach, Changes changes) -> Result<void> {
    if (next == unapplied_.end() || next->reach.commits != reach.commits) return {};
    again.push_back({next->ticket, std::move(changes), next->reach, next->durability, next->piecewise});
    ++next;
    return {};
  });
  if (read && next != unapplied_.end())
    read = fail(Errc::Damaged,
                "the journal of the message store is damaged; restart the daemon to recover what can be read: "
                "agent-relay down --all, agent-relay up");
  if (!read) {
    stuck_ = true;
    notify_damage(read.error());
    return read;
  }
  backing_->apply(std::move(again));
  return {};
}

void JournaledStoreQueue::notify() {
  if (stopped_) return;
  if (unmarked_ && !journal_->mark()) return;
  unmarked_ = false;
  const auto alive = lifetime_.watch();  // the listener may destroy this queue
  const bool within_lag = unapplied_bytes_ <= kMaxLagBytes || failure_;
  if (unreported_ && within_lag) listener_.on_committed(*std::exchange(unreported_, std::nullopt), newest_event_);
  if (!alive || !failure_) return;
  const auto failure = *std::exchange(failure_, std::nullopt);
  listener_.on_commit_failed(failure.first, failure.last, failure.error);
}

// From the journal writer.

void JournaledStoreQueue::on_written(std::size_t records) {
  written_ += records;
  advance();
  if (!flushing_) notify();
}

void JournaledStoreQueue::on_write_failed(const Error& error) {
  std::optional<UnreportedFailure> failure;
  const auto add = [&](const Batch& requests) {
    for (const auto& [ticket, changes, journal_position, durability, piecewise] : requests) {
      if (!failure) failure = UnreportedFailure{ticket, ticket, error};
      failure->last = ticket;
    }
  };
  std::erase_if(pipeline_, [&](const auto& work) {
    if (const auto* batch = std::get_if<Batch>(&work)) add(*batch);
    if (const auto* direct = std::get_if<PersistRequest>(&work)) {
      if (!failure) failure = UnreportedFailure{direct->ticket, direct->ticket, error};
      failure->last = direct->ticket;
    }
    return !std::holds_alternative<Forward>(work);
  });
  add(batch_);
  batch_.clear();
  record_ = {};
  last_direct_.reset();
  if (failure && !failure_)
    failure_ = std::move(failure);
  else if (failure)
    failure_->last = failure->last;
  advance();
  if (!flushing_) notify();
}

// From the backing queue.

void JournaledStoreQueue::on_committed(CommitTicket up_to, EventSeq newest) {
  if (stopped_) return;
  newest_event_ = std::max(newest_event_, newest);
  error_.reset();
  unsure_ = false;
  CommitNumber durable = 0;
  bool was_journaled = false;
  while (!unapplied_.empty() && unapplied_.front().ticket <= up_to) {
    const auto& applied = unapplied_.front();
    if (applied.durability == CommitDurability::Full) durable = applied.reach.commits;
    was_journaled = applied.ticket == up_to;
    unapplied_bytes_ -= applied.bytes;
    unapplied_.pop_front();
  }
  if (durable > 0) journal_->mark_applied(durable);
  if (was_journaled) {
    listener_.on_events(newest_event_);
  } else {
    for (; !direct_.empty() && direct_.front().ticket <= up_to; direct_.pop_front()) journaled_ = direct_.front().reach;
    if (journaled_.commits > journal_->newest() && !journal_->skip_to(journaled_) && !std::exchange(unmarked_, true))
      mark_later();
    if (last_direct_ && *last_direct_ <= up_to) last_direct_.reset();
    unreported_ = up_to;
  }
  notify();
  send_results();
}

void JournaledStoreQueue::on_commit_failed(CommitTicket from, CommitTicket to, const Error& error) {
  if (stopped_) return;
  auto direct = from;
  if (!unapplied_.empty() && unapplied_.front().ticket <= to) {
    stuck_ = true;
    error_ = error;
    direct = CommitTicket{unapplied_.back().ticket.value() + 1};
    if (is(error, Errc::BadChange) && unapplied_.front().ticket == from) {
      log::error("commit contradicts the message store; applying its changes one by one",
                 {{"reason", error.message()}});
      unapplied_.front().piecewise = true;
    } else {
      log::error("cannot apply journaled commits to the database; retrying", {{"reason", error.message()}});
    }
  }
  if (stuck_) retry_later();
  send_results();
  if (to < direct) return;
  if (last_direct_ && *last_direct_ <= to) last_direct_.reset();
  direct_.clear();
  if (!is(error, Errc::BadChange)) unsure_ = true;
  forwarded_ = journaled_;
  if (!unapplied_.empty() && unapplied_.back().reach.commits > forwarded_.commits) forwarded_ = unapplied_.back().reach;
  if (!unmarked_) return listener_.on_commit_failed(direct, to, error);
  // Reported after the commits that the journal could not mark yet.
  if (!failure_) failure_ = UnreportedFailure{direct, to, error};
  failure_->last = to;
}

void JournaledStoreQueue::mark_later() {
  post_delayed_(kRetryDelay, [this, alive = lifetime_.watch()] {
    if (!alive || !unmarked_) return;
    notify();
    if (alive && unmarked_) mark_later();
  });
}

void JournaledStoreQueue::retry_later() {
  post_delayed_(kRetryDelay, [this, alive = lifetime_.watch()] {
    if (!alive || !stuck_) return;
    if (const auto done = reapply(); !done) retry_later();
  });
}

void JournaledStoreQueue::on_backlog(Result<BacklogPage> page, const BacklogRequest& request) {
  if (!stopped_) listener_.on_backlog(std::move(page), request);
}

void JournaledStoreQueue::on_expired(Result<ExpireResult> result) {
  if (stopped_) return;
  --open_expiries_;
  if (result) newest_event_ = std::max(newest_event_, result->newest_event);
  listener_.on_expired(std::move(result));
}

void JournaledStoreQueue::on_query_result(QueryId id, Result<QueryResult> result) {
  if (stopped_) return;
  const auto query = open_queries_.extract(id);
  early_results_.push_back({id, query.empty() ? 0 : query.mapped(), std::move(result)});
  send_results();
}

void JournaledStoreQueue::on_damage(const Damage& damage) {
  if (!stopped_) listener_.on_damage(damage);
}

/// Posted, because the caller of reapply() may be on the call stack.
void JournaledStoreQueue::notify_damage(const Error& error) {
  if (!is(error, Errc::Damaged) || std::exchange(damage_reported_, true)) return;
  post_([this, damage = damage_at_runtime(error)] { on_damage(damage); });
}

/// Passes on each result whose store had confirmed every commit reported before its query.
void JournaledStoreQueue::send_results() {
  for (auto& [id, required, result] : std::exchange(early_results_, {})) {
    const bool is_stale = !unapplied_.empty() && unapplied_.front().reach.commits <= required;
    if (!is_stale)
      listener_.on_query_result(id, std::move(result));
    else if (error_)
      listener_.on_query_result(id, Failure{*error_});
    else
      early_results_.push_back({id, required, std::move(result)});
  }
}

}  // namespace relay::store
