/// Questions answered beside the writer, one after another, on a thread of their own.
///
/// Ownership: owns the reader and the thread; borrows nothing that the answers outlive. Threading: ask() and stop()
/// from one other thread; answers go out through `tell`, called on this object's thread. After stop() nothing more is
/// told: what was asked before is answered first.
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

  QueryThread(std::unique_ptr<MessageReader> reader, OnResult tell);
  ~QueryThread() { stop(); }
  QueryThread(const QueryThread&) = delete;
  QueryThread& operator=(const QueryThread&) = delete;

  void ask(QueryId id, Query query);
  void stop();

 private:
  void run();

  std::unique_ptr<MessageReader> reader_;
  OnResult on_result_;
  std::mutex mutex_;  // guards the two below
  std::deque<std::pair<QueryId, Query>> asked_;
  bool stopping_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // last: starts when all else stands
};

}  // namespace relay::store
