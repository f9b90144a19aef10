/// Records on their way into the journal: on the calling thread, or on one of their own where each waits for the disk.
///
/// Invariants: records are appended in the order written, and each is told of once, in that order, as safe or refused;
///   after one is refused everything written until that is told is refused with it.
/// Ownership: borrows journal and listener, which outlive it. Threading: all calls and all that is told on the loop thread.
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
  std::string bytes;  // with room for the journal's frame in front
  std::uint32_t commits = 0;
  std::uint32_t messages = 0;  // in those
  records::CommitMode haste = records::CommitMode::Now;
};

class JournalListener {
 public:
  virtual ~JournalListener() = default;
  virtual void on_written(std::size_t records) = 0;
  virtual void on_write_failed(const Error& why) = 0;  // of all that were not told of yet
};

class JournalWriter {
 public:
  virtual ~JournalWriter() = default;
  virtual void write(JournalRecord record) = 0;
  /// Tells what became of everything before it returns.
  virtual void stop() = 0;
};

/// Where appending is all there is to it: what the machine's memory of the file holds survives us.
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

/// Where each must be on the disk: what gathers while one sync runs shares the next.
class ThreadedJournalWriter final : public JournalWriter {
 public:
  using Task = std::move_only_function<void()>;
  using Post = std::function<void(Task)>;  // runs a task on the loop thread; any thread may call it

  ThreadedJournalWriter(Journal& journal, JournalListener& listener, Post post, std::chrono::milliseconds company);
  ~ThreadedJournalWriter() override { stop(); }

  void write(JournalRecord record) override;
  void stop() override;

 private:
  /// What both threads touch. Shared, because a posted task may run after the writer is gone.
  struct Shared {
    std::mutex mutex;  // guards all below
    std::vector<JournalRecord> waiting;
    bool awaited = false;     // by somebody
    bool keeps_back = false;  // the thread waits for something that is awaited
    bool stopping = false;
    std::size_t written = 0;      // and not told
    std::optional<Error> failed;  // and not told: until then nothing is written
    std::condition_variable changed;
  };

  void run();
  static void tell(Shared& shared, JournalListener& listener);

  Journal& journal_;
  JournalListener& listener_;
  Post post_;
  std::chrono::milliseconds company_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;  // last: starts when all else stands
};

}  // namespace relay::store
