/// Runs queries beside the writer, one after another, on a separate thread.
///
/// Ownership: owns the reader and the thread; borrows nothing that the results outlive. Threading: enqueue() and stop()
///   from one other thread; on_result is called on this object's thread. stop() runs every queued query first;
///   afterwards on_result is not called any more.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "store/message_store.h"
#include "store/queue/store_queue.h"

namespace relay::store {

class QueryThread {
 public:
  using OnResult = std::function<void(QueryId, Result<QueryResult>)>;

  QueryThread(std::unique_ptr<MessageReader> reader, OnResult on_result);
  ~QueryThread() { stop(); }
  QueryThread(const QueryThread&) = delete;
  QueryThread& operator=(const QueryThread&) = delete;

  void enqueue(QueryId id, Query query);
  void stop();

 private:
  void run();

  std::unique_ptr<MessageReader> reader_;
  OnResult on_result_;
  std::mutex mutex_;  // guards queued_ and stopping_
  std::deque<std::pair<QueryId, Query>> queued_;
  bool stopping_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // last: starts after every other member
};

}  // namespace relay::store
