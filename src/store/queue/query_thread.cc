#include "store/queue/query_thread.h"

#include "store/queue/store_batch.h"

namespace relay::store {

QueryThread::QueryThread(std::unique_ptr<MessageReader> reader, OnResult on_result)
    : reader_{std::move(reader)}, on_result_{std::move(on_result)}, thread_{[this] { run(); }} {}

void QueryThread::enqueue(QueryId id, Query query) {
  {
    const std::lock_guard lock{mutex_};
    queued_.emplace_back(id, std::move(query));
  }
  changed_.notify_one();
}

void QueryThread::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void QueryThread::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queued_.empty(); });
    if (queued_.empty()) return;
    auto [id, query] = std::move(queued_.front());
    queued_.pop_front();
    lock.unlock();
    on_result_(id, run_query(*reader_, query));
    lock.lock();
  }
}

}  // namespace relay::store
