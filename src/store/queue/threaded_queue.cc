#include "store/queue/threaded_queue.h"

#include <algorithm>

#include "base/log.h"
#include "base/thread_priority.h"

namespace relay::store {

using namespace records;

ThreadedStoreQueue::ThreadedStoreQueue(std::unique_ptr<MessageStore> store, PostTask post, StoreListener& listener,
                                       QueueTuning tuning)
    : store_{std::move(store)}, post_{std::move(post)}, listener_{listener}, tuning_{tuning}, writer_{[this] {
        run();
      }} {}

template <class Work>
void ThreadedStoreQueue::enqueue(Work work, CommitMode mode) {
  {
    const std::lock_guard lock{shared_->mutex};
    if (shared_->stopping) return;
    work(*shared_);
    if (mode == CommitMode::Immediate) shared_->queued.has_immediate = true;
    if (!shared_->queued.has_immediate && shared_->delaying) return;  // the writer wakes after commit_delay
  }
  shared_->changed.notify_one();
}

void ThreadedStoreQueue::persist(CommitTicket ticket, Changes changes, CommitMode mode) {
  enqueue(
      [&](Shared& shared) {
        shared.pending_bytes += bytes_held(changes);
        shared.queued.requests.emplace_back(PersistRequest{.ticket = ticket, .changes = std::move(changes)});
      },
      mode);
}

void ThreadedStoreQueue::apply(std::vector<PersistRequest> requests) {
  const bool kept =
      std::ranges::any_of(requests, [](const PersistRequest& one) { return one.durability == CommitDurability::Full; });
  enqueue(
      [&](Shared& shared) {
        for (auto& request : requests) {
          shared.pending_bytes += bytes_held(request.changes);
          shared.queued.requests.emplace_back(std::move(request));
        }
        if (shared.pending_bytes >= tuning_.commit_delay_bytes) shared.queued.has_immediate = true;
      },
      kept ? CommitMode::Immediate : CommitMode::Piggyback);
}

void ThreadedStoreQueue::load_backlog(BacklogRequest request) {
  enqueue([&](Shared& shared) { shared.queued.requests.emplace_back(std::move(request)); });
}

void ThreadedStoreQueue::expire(ExpireRequest request) {
  enqueue([&](Shared& shared) { shared.queued.requests.emplace_back(request); });
}

void ThreadedStoreQueue::query(QueryId id, Query query) {
  enqueue([&](Shared& shared) { shared.queued.queries.emplace_back(id, std::move(query)); });
}

void ThreadedStoreQueue::prune(Retention retention, WallMs now) {
  enqueue([&](Shared& shared) { shared.queued_prune = PruneJob{retention, now}; }, CommitMode::Piggyback);
}

void ThreadedStoreQueue::stop() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->stopping = true;
  }
  shared_->changed.notify_one();
  writer_.join();
}

bool ThreadedStoreQueue::background_may_run() const {
  return prune_job_.has_value() || (index_behind_ && (idle_ || unindexed_ >= tuning_.index_backlog));
}

void ThreadedStoreQueue::run() {
  if (tuning_.behind_journal) lower_thread_priority();
  auto& shared = *shared_;
  std::unique_lock lock{shared.mutex};
  const auto called = [&] {
    return shared.stopping ||
           (!shared.failure_unacknowledged && (!shared.queued.empty() || shared.queued_prune.has_value()));
  };
  for (;;) {
    if (shared.failure_unacknowledged && !shared.stopping) {
      shared.changed.wait(lock, called);
      continue;
    }
    if (shared.queued_prune) prune_job_ = std::exchange(shared.queued_prune, std::nullopt);
    if (!shared.queued.empty()) {
      if (!shared.queued.has_immediate && !shared.stopping) {
        shared.delaying = true;
        shared.changed.wait_for(lock, tuning_.commit_delay,
                                [&] { return shared.stopping || shared.queued.has_immediate; });
        shared.delaying = false;
      }
      auto queued = std::exchange(shared.queued, {});
      // True only while stopping: the loop thread waits in stop() and cannot acknowledge the failure first.
      const bool after_failure = shared.failure_unacknowledged;
      idle_ = false;
      lock.unlock();
      serve(std::move(queued), after_failure);
      lock.lock();
    } else if (shared.stopping) {
      break;
    } else if (background_may_run()) {
      lock.unlock();
      background_step();
      lock.lock();
    } else if (checking_) {
      lock.unlock();
      check_step();
      lock.lock();
      if (!checking_) continue;
      const bool was_called = shared.changed.wait_for(lock, tuning_.check_pause, called);
      idle_for_ = was_called ? idle_for_.zero() : idle_for_ + tuning_.check_pause;
      if (idle_for_ >= tuning_.idle_delay) idle_ = true;
    } else if (background_waits()) {
      idle_ = !shared.changed.wait_for(lock, tuning_.idle_delay, called);
    } else {
      shared.changed.wait(lock, called);
    }
  }
  lock.unlock();
  if (reader_ != nullptr) reader_->stop();
}

void ThreadedStoreQueue::serve(QueuedRequests queued, bool after_failure) {
  if (after_failure) fail_changes(queued);
  if (!queued.requests.empty()) {
    auto outcome = execute(*store_, queued.requests);
    for (const auto& request : queued.requests) {
      const auto* persist = std::get_if<PersistRequest>(&request);
      if (persist == nullptr) continue;
      shared_->pending_bytes -= bytes_held(persist->changes);
      for (const auto& change : persist->changes) unindexed_ += std::holds_alternative<AddMessage>(change) ? 1u : 0u;
    }
    if (!outcome.failed) {
      applied_ = std::max(applied_, journal_reach_of(queued.requests).commits);
      if (durability_of(queued.requests) == CommitDurability::Full) shared_->durable = applied_;
    }
    index_behind_ = index_behind_ || unindexed_ > 0;
    if (outcome.failed) {
      post_failure(std::move(outcome));
    } else {
      // A posted task holds the listener and its own values, nothing of this queue: it may run after the queue is destroyed.
      post_([before = std::move(outcome.before), after = std::move(outcome.after), &listener = listener_]() mutable {
        for (auto& reply : before) reply(listener);
        for (auto& reply : after) reply(listener);
      });
    }
  }
  run_queries(std::move(queued.queries));
}

void ThreadedStoreQueue::post_failure(BatchOutcome outcome) {
  notify_damage(outcome.failed->error);
  last_failure_ = outcome.failed->error;
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->failure_unacknowledged = true;
  }
  post_([shared = shared_, outcome = std::move(outcome), &listener = listener_]() mutable {
    notify_failure(*shared, std::move(outcome), listener);
  });
}

void ThreadedStoreQueue::fail_changes(QueuedRequests& queued) {
  std::optional<BatchOutcome::FailedRange> failed;
  std::erase_if(queued.requests, [&](const BatchRequest& request) {
    const auto* persist = std::get_if<PersistRequest>(&request);
    if (persist == nullptr) return false;
    if (!failed) failed = BatchOutcome::FailedRange{persist->ticket, persist->ticket, *last_failure_};
    failed->last = persist->ticket;
    shared_->pending_bytes -= bytes_held(persist->changes);
    return true;
  });
  if (failed) post_failure({{}, std::move(failed), {}});
}

void ThreadedStoreQueue::notify_failure(Shared& shared, BatchOutcome outcome, StoreListener& listener) {
  // First: requests that the listener makes in these replies come after the failed commit and fail with the rest.
  for (auto& reply : outcome.before) reply(listener);
  {
    const std::lock_guard lock{shared.mutex};
    shared.failure_unacknowledged = false;
    const auto behind = std::exchange(shared.queued.requests, {});
    for (const auto& request : behind) {
      const auto* persist = std::get_if<PersistRequest>(&request);
      if (persist == nullptr) continue;
      outcome.failed->last = persist->ticket;
      shared.pending_bytes -= bytes_held(persist->changes);
    }
    // Pages and expiries after the failed commit would lack its changes.
    add_failed_replies(outcome.after, behind, outcome.failed->error);
  }
  shared.changed.notify_one();
  listener.on_commit_failed(outcome.failed->first, outcome.failed->last, outcome.failed->error);
  for (auto& reply : outcome.after) reply(listener);
}

void ThreadedStoreQueue::run_queries(std::vector<std::pair<QueryId, Query>> queries) {
  if (queries.empty()) return;
  if (!std::exchange(reader_tried_, true)) {
    auto reader = store_->open_reader();
    if (!reader) {
      log::warn("cannot open a reader; the writer runs the queries", {{"reason", reader.error().message()}});
    } else if (*reader != nullptr) {
      reader_ = std::make_unique<QueryThread>(
          *std::move(reader), [this](QueryId id, Result<QueryResult> result) { notify(id, std::move(result)); });
    }
  }
  for (auto& [id, query] : queries) {
    if (reader_ != nullptr) {
      reader_->enqueue(id, std::move(query));
    } else {
      notify(id, run_query(*store_, query));
    }
  }
}

void ThreadedStoreQueue::notify(QueryId id, Result<QueryResult> result) {
  if (!result) notify_damage(result.error());
  post_([id, result = std::move(result), &listener = listener_]() mutable {
    listener.on_query_result(id, std::move(result));
  });
}

void ThreadedStoreQueue::background_step() {
  const auto warn = [this](const Error& error) {
    log::warn("background work on the store failed", {{"reason", error.message()}});
    notify_damage(error);
  };
  if (prune_job_) {
    const auto more = store_->prune_step(prune_job_->retention, prune_job_->now, tuning_.prune_step_rows);
    if (!more) warn(more.error());
    if (!more || !*more) prune_job_.reset();
    return;
  }
  const auto more = store_->index_step(tuning_.index_step_rows);
  if (!more) warn(more.error());
  // After a failure indexing stops until the next message: a retry without a change in between would fail again.
  index_behind_ = more && *more;
  if (!index_behind_) unindexed_ = 0;
}

void ThreadedStoreQueue::check_step() {
  const auto more = store_->check_some(tuning_.check_step_bytes);
  checking_ = more && *more;
  if (more) return;
  if (!is(more.error(), Errc::Damaged))
    log::warn("the check of the message store failed", {{"reason", more.error().message()}});
  notify_damage(more.error());
}

void ThreadedStoreQueue::notify_damage(const Error& error) {
  if (!is(error, Errc::Damaged) || damage_reported_.exchange(true)) return;
  post_([damage = damage_at_runtime(error), &listener = listener_] { listener.on_damage(damage); });
}

}  // namespace relay::store
