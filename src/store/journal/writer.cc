#include "store/journal/writer.h"

#include <utility>

namespace relay::store {

void InlineJournalWriter::write(JournalRecord record) {
  auto done = journal_.append(record.bytes, record.commits, record.messages);
  if (!done)
    journal_.roll_back();
  else if (sync_ == Sync::Each)
    done = journal_.sync();
  else
    done = journal_.mark_safe();
  if (done)
    listener_.on_written(1);
  else
    listener_.on_write_failed(done.error());
}

ThreadedJournalWriter::ThreadedJournalWriter(Journal& journal, JournalListener& listener, PostTask post,
                                             std::chrono::milliseconds commit_delay)
    : journal_{journal}, listener_{listener}, post_{std::move(post)}, commit_delay_{commit_delay}, thread_{[this] {
        run();
      }} {}

void ThreadedJournalWriter::write(JournalRecord record) {
  {
    const std::lock_guard lock{shared_->mutex};
    if (record.mode == records::CommitMode::Immediate) shared_->has_immediate = true;
    shared_->queued.push_back(std::move(record));
    if (!shared_->has_immediate && shared_->delaying) return;  // the thread wakes after commit_delay
  }
  shared_->changed.notify_one();
}

void ThreadedJournalWriter::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{shared_->mutex};
    shared_->stopping = true;
  }
  shared_->changed.notify_one();
  thread_.join();
  notify(*shared_, listener_);
}

void ThreadedJournalWriter::run() {
  auto& shared = *shared_;
  std::unique_lock lock{shared.mutex};
  for (;;) {
    shared.changed.wait(lock, [&] { return shared.stopping || (!shared.failed && !shared.queued.empty()); });
    if (shared.failed || shared.queued.empty()) return;
    if (!shared.has_immediate && !shared.stopping) {
      shared.delaying = true;
      shared.changed.wait_for(lock, commit_delay_, [&] { return shared.stopping || shared.has_immediate; });
      shared.delaying = false;
    }
    auto records = std::exchange(shared.queued, {});
    shared.has_immediate = false;
    lock.unlock();
    Result<void> done;
    for (auto& record : records)
      if (done) done = journal_.append(record.bytes, record.commits, record.messages);
    if (done)
      done = journal_.sync();
    else
      journal_.roll_back();
    lock.lock();
    const bool task_posted = shared.written > 0 || shared.failed;
    if (done)
      shared.written += records.size();
    else
      shared.failed = done.error();
    if (task_posted) continue;
    lock.unlock();
    post_([shared = shared_, &listener = listener_] { notify(*shared, listener); });
    lock.lock();
  }
}

void ThreadedJournalWriter::notify(Shared& shared, JournalListener& listener) {
  std::size_t written = 0;
  std::optional<Error> failed;
  {
    const std::lock_guard lock{shared.mutex};
    written = std::exchange(shared.written, 0);
    failed = shared.failed;  // stays set during on_written(): records that the listener writes there fail too
  }
  if (written > 0) listener.on_written(written);
  if (!failed) return;
  {
    const std::lock_guard lock{shared.mutex};
    shared.failed.reset();
    shared.queued.clear();
    shared.has_immediate = false;
  }
  listener.on_write_failed(*failed);
}

}  // namespace relay::store
