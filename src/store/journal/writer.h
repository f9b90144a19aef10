/// Writes records into the journal: on the calling thread, or on a separate thread where each write waits for the disk.
///
/// Invariants: records are appended in the order of write(), and each is reported once, in that order, as written or
///   failed; after a failure every record written before the report fails with it.
/// Ownership: borrows journal and listener, which outlive it. Threading: all calls and all reports on the loop thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "store/journal/journal.h"

namespace relay::store {

struct JournalRecord {
  std::string bytes;  // starts with room for the journal's frame
  std::uint32_t commits = 0;
  std::uint32_t messages = 0;  // in those commits
  records::CommitMode mode = records::CommitMode::Immediate;
};

class JournalListener {
 public:
  virtual ~JournalListener() = default;
  virtual void on_written(std::size_t records) = 0;
  virtual void on_write_failed(const Error& error) = 0;  // every record that is not reported yet
};

class JournalWriter {
 public:
  virtual ~JournalWriter() = default;
  virtual void write(JournalRecord record) = 0;
  /// Reports the outcome of every record before it returns.
  virtual void stop() = 0;
};

/// Appends on the calling thread. Without a sync the page cache of the machine keeps the record if this process dies.
class InlineJournalWriter final : public JournalWriter {
 public:
  enum class Sync { No, Each };
  InlineJournalWriter(Journal& journal, JournalListener& listener, Sync sync)
      : journal_{journal}, listener_{listener}, sync_{sync} {}

  void write(JournalRecord record) override;
  void stop() override {}

 private:
  Journal& journal_;
  JournalListener& listener_;
  Sync sync_;
};

/// Appends and syncs on a thread: records that arrive while one sync runs share the next.
class ThreadedJournalWriter final : public JournalWriter {
 public:
  using Task = std::move_only_function<void()>;
  using PostTask = std::function<void(Task)>;  // runs a task on the loop thread; any thread may call it

  ThreadedJournalWriter(Journal& journal, JournalListener& listener, PostTask post,
                        std::chrono::milliseconds commit_delay);
  ~ThreadedJournalWriter() override { stop(); }

  void write(JournalRecord record) override;
  void stop() override;

 private:
  /// State of both threads. Shared, because a posted task may run after the writer is destroyed.
  struct Shared {
    std::mutex mutex;  // guards all below
    std::vector<JournalRecord> queued;
    bool has_immediate = false;  // an immediate record is queued
    bool delaying = false;       // the thread waits commit_delay for an immediate record
    bool stopping = false;
    std::size_t written = 0;      // not reported yet
    std::optional<Error> failed;  // not reported yet: until then nothing is written
    std::condition_variable changed;
  };

  void run();
  static void notify(Shared& shared, JournalListener& listener);

  Journal& journal_;
  JournalListener& listener_;
  PostTask post_;
  std::chrono::milliseconds commit_delay_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;  // last: starts after every other member
};

}  // namespace relay::store
