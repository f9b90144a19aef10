#include "store/queue/threaded_queue.h"

#include <algorithm>

#include "base/log.h"
#include "base/thread_priority.h"

namespace relay::store {

using namespace records;

ThreadedStoreQueue::ThreadedStoreQueue(std::unique_ptr<MessageStore> store, Post post, StoreListener& listener,
                                       QueueTuning pacing)
    : store_{std::move(store)}, post_{std::move(post)}, listener_{listener}, pacing_{pacing}, writer_{[this] {
        run();
      }} {}

template <class Work>
void ThreadedStoreQueue::ask(Work work, CommitMode haste) {
  {
    const std::lock_guard lock{shared_->mutex};
    if (shared_->stopping) return;
    work(*shared_);
    if (haste == CommitMode::Now) shared_->asked.awaited = true;
    if (!shared_->asked.awaited && shared_->delaying) return;  // it wakes by itself
  }
  shared_->changed.notify_one();
}

void ThreadedStoreQueue::persist(CommitTicket ticket, Changes changes, CommitMode haste) {
  ask(
      [&](Shared& shared) {
        shared.pending_bytes += bytes_held(changes);
        shared.asked.requests.emplace_back(PersistRequest{.ticket = ticket, .changes = std::move(changes)});
      },
      haste);
}

void ThreadedStoreQueue::apply(std::vector<PersistRequest> requests) {
  const bool kept =
      std::ranges::any_of(requests, [](const PersistRequest& one) { return one.promise == CommitDurability::Kept; });
  ask(
      [&](Shared& shared) {
        for (auto& request : requests) {
          shared.pending_bytes += bytes_held(request.changes);
          shared.asked.requests.emplace_back(std::move(request));
        }
        if (shared.pending_bytes >= pacing_.commit_delay_bytes) shared.asked.awaited = true;
      },
      kept ? CommitMode::Now : CommitMode::WithTheNext);
}

void ThreadedStoreQueue::load_backlog(BacklogRequest request) {
  ask([&](Shared& shared) { shared.asked.requests.emplace_back(std::move(request)); });
}

void ThreadedStoreQueue::expire(ExpireRequest request) {
  ask([&](Shared& shared) { shared.asked.requests.emplace_back(request); });
}

void ThreadedStoreQueue::query(QueryId id, Query query) {
  ask([&](Shared& shared) { shared.asked.queries.emplace_back(id, std::move(query)); });
}

void ThreadedStoreQueue::prune(Retention retention, WallMs now) {
  ask([&](Shared& shared) { shared.asked_to_forget = PruneJob{retention, now}; }, CommitMode::WithTheNext);
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
  return forgetting_.has_value() || (index_behind_ && (quiet_ || unindexed_ >= pacing_.index_without_quiet));
}

void ThreadedStoreQueue::run() {
  if (pacing_.behind_a_journal) lower_thread_priority();
  auto& shared = *shared_;
  std::unique_lock lock{shared.mutex};
  const auto called = [&] {
    return shared.stopping ||
           (!shared.failure_unacknowledged && (!shared.asked.empty() || shared.asked_to_forget.has_value()));
  };
  for (;;) {
    if (shared.failure_unacknowledged && !shared.stopping) {
      shared.changed.wait(lock, called);
      continue;
    }
    if (shared.asked_to_forget) forgetting_ = std::exchange(shared.asked_to_forget, std::nullopt);
    if (!shared.asked.empty()) {
      if (!shared.asked.awaited && !shared.stopping) {
        shared.delaying = true;
        shared.changed.wait_for(lock, pacing_.commit_delay, [&] { return shared.stopping || shared.asked.awaited; });
        shared.delaying = false;
      }
      auto asked = std::exchange(shared.asked, {});
      // Only while stopping: the loop thread waits for us and cannot hear of the failure first.
      const bool behind_a_hole = shared.failure_unacknowledged;
      quiet_ = false;
      lock.unlock();
      serve(std::move(asked), behind_a_hole);
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
      const bool was_called = shared.changed.wait_for(lock, pacing_.check_pause, called);
      idle_for_ = was_called ? idle_for_.zero() : idle_for_ + pacing_.check_pause;
      if (idle_for_ >= pacing_.idle_delay) quiet_ = true;
    } else if (background_waits()) {
      quiet_ = !shared.changed.wait_for(lock, pacing_.idle_delay, called);
    } else {
      shared.changed.wait(lock, called);
    }
  }
  lock.unlock();
  if (reader_ != nullptr) reader_->stop();
}

void ThreadedStoreQueue::serve(QueuedRequests asked, bool behind_a_hole) {
  if (behind_a_hole) refuse_changes(asked);
  if (!asked.requests.empty()) {
    auto outcome = execute(*store_, asked.requests);
    for (const auto& request : asked.requests) {
      const auto* persist = std::get_if<PersistRequest>(&request);
      if (persist == nullptr) continue;
      shared_->pending_bytes -= bytes_held(persist->changes);
      for (const auto& change : persist->changes) unindexed_ += std::holds_alternative<AddMessage>(change) ? 1u : 0u;
    }
    if (!outcome.failed) {
      reached_ = std::max(reached_, reached_by(asked.requests).commits);
      if (promise_of(asked.requests) == CommitDurability::Kept) shared_->kept = reached_;
    }
    index_behind_ = index_behind_ || unindexed_ > 0;
    if (outcome.failed) {
      post_failure(std::move(outcome));
    } else {
      // A posted task knows the listener and its own values, nothing of this queue: it may run after the queue is gone.
      post_([before = std::move(outcome.before), after = std::move(outcome.after), &listener = listener_]() mutable {
        for (auto& reply : before) reply(listener);
        for (auto& reply : after) reply(listener);
      });
    }
  }
  answer_queries(std::move(asked.queries));
}

void ThreadedStoreQueue::post_failure(BatchOutcome outcome) {
  notify_damage(outcome.failed->why);
  last_failure_ = outcome.failed->why;
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->failure_unacknowledged = true;
  }
  post_([shared = shared_, outcome = std::move(outcome), &listener = listener_]() mutable {
    notify_failure(*shared, std::move(outcome), listener);
  });
}

void ThreadedStoreQueue::refuse_changes(QueuedRequests& asked) {
  std::optional<BatchOutcome::Failed> failed;
  std::erase_if(asked.requests, [&](const BatchRequest& request) {
    const auto* persist = std::get_if<PersistRequest>(&request);
    if (persist == nullptr) return false;
    if (!failed) failed = BatchOutcome::Failed{persist->ticket, persist->ticket, *last_failure_};
    failed->last = persist->ticket;
    shared_->pending_bytes -= bytes_held(persist->changes);
    return true;
  });
  if (failed) post_failure({{}, std::move(failed), {}});
}

void ThreadedStoreQueue::notify_failure(Shared& shared, BatchOutcome outcome, StoreListener& listener) {
  // First: what they make the listener ask for is behind the hole, and fails with the rest.
  for (auto& reply : outcome.before) reply(listener);
  {
    const std::lock_guard lock{shared.mutex};
    shared.failure_unacknowledged = false;
    const auto behind = std::exchange(shared.asked.requests, {});
    for (const auto& request : behind) {
      const auto* persist = std::get_if<PersistRequest>(&request);
      if (persist == nullptr) continue;
      outcome.failed->last = persist->ticket;
      shared.pending_bytes -= bytes_held(persist->changes);
    }
    // Pages and expiries behind the hole would not see what they were to see.
    add_failed_answers(outcome.after, behind, outcome.failed->why);
  }
  shared.changed.notify_one();
  listener.on_commit_failed(outcome.failed->first, outcome.failed->last, outcome.failed->why);
  for (auto& reply : outcome.after) reply(listener);
}

void ThreadedStoreQueue::answer_queries(std::vector<std::pair<QueryId, Query>> queries) {
  if (queries.empty()) return;
  if (!std::exchange(reader_tried_, true)) {
    auto reader = store_->open_reader();
    if (!reader) {
      log::warn("questions are answered by the writer: no reader could be opened",
                {{"reason", reader.error().message()}});
    } else if (*reader != nullptr) {
      reader_ = std::make_unique<QueryThread>(
          *std::move(reader), [this](QueryId id, Result<QueryResult> said) { notify(id, std::move(said)); });
    }
  }
  for (auto& [id, query] : queries) {
    if (reader_ != nullptr) {
      reader_->ask(id, std::move(query));
    } else {
      notify(id, answer(*store_, query));
    }
  }
}

void ThreadedStoreQueue::notify(QueryId id, Result<QueryResult> answer) {
  if (!answer) notify_damage(answer.error());
  post_(
      [id, answer = std::move(answer), &listener = listener_]() mutable { listener.on_answer(id, std::move(answer)); });
}

void ThreadedStoreQueue::background_step() {
  const auto warn = [this](const Error& why) {
    log::warn("background work on the store stopped for now", {{"reason", why.message()}});
    notify_damage(why);
  };
  if (forgetting_) {
    const auto more = store_->prune_step(forgetting_->retention, forgetting_->now, pacing_.forget_step_rows);
    if (!more) warn(more.error());
    if (!more || !*more) forgetting_.reset();
    return;
  }
  const auto more = store_->index_step(pacing_.index_step_rows);
  if (!more) warn(more.error());
  // After a failure the next message asks again; there is no point in trying before something has changed.
  index_behind_ = more && *more;
  if (!index_behind_) unindexed_ = 0;
}

void ThreadedStoreQueue::check_step() {
  const auto more = store_->check_some(pacing_.check_step_bytes);
  checking_ = more && *more;
  if (more) return;
  if (!is(more.error(), Errc::Damaged))
    log::warn("the check of the message store stopped", {{"reason", more.error().message()}});
  notify_damage(more.error());
}

void ThreadedStoreQueue::notify_damage(const Error& error) {
  if (!is(error, Errc::Damaged) || damage_told_.exchange(true)) return;
  post_([damage = found_at_work(error), &listener = listener_] { listener.on_damage(damage); });
}

}  // namespace relay::store
