#include "store/journal/writer.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>

#include "base/format.h"
#include "records/change_codec.h"
#include "store/testing/sim_disk.h"

namespace relay::store {
namespace {

using namespace records;

struct ThreadedJournalWriterTest : testing::Test, JournalListener {
  ThreadedJournalWriterTest() {
    journal = *Journal::open({.database = "db", .vfs = disk.vfs(), .id = 1},
                             [](JournalReach, const Changes&) { return Result<void>{}; });
    writer = std::make_unique<ThreadedJournalWriter>(
        *journal, *this,
        [this](ThreadedJournalWriter::Task task) {
          const std::lock_guard lock{mutex};
          tasks.push_back(std::move(task));
          changed.notify_one();
        },
        std::chrono::milliseconds{1});
  }
  void write() {
    JournalRecord record{.bytes = std::string(Journal::kFrameBytes, '\0'), .commits = 1};
    encode({JoinChannel{{"#a", AgentName{"A"}}}}, record.bytes);
    writer->write(std::move(record));
  }
  /// Waits for a task of the thread and runs it.
  void run_task() {
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return !tasks.empty(); });
    auto task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    task();
  }
  void wait_for(CommitNumber newest) const {
    while (journal->newest() < newest) std::this_thread::yield();
  }

  void on_written(std::size_t records) override {
    calls.push_back(format("written {}", records));
    if (when_written) std::exchange(when_written, nullptr)();
  }
  void on_write_failed(const Error&) override { calls.emplace_back("failed"); }

  SimDisk disk;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<ThreadedJournalWriter::Task> tasks;
  std::vector<std::string> calls;
  std::move_only_function<void()> when_written;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<ThreadedJournalWriter> writer;
};

using Calls = std::vector<std::string>;

TEST_F(ThreadedJournalWriterTest, RecordIsSyncedBeforeItIsReported) {
  write();
  run_task();
  EXPECT_EQ(calls, Calls{"written 1"});
  EXPECT_GE(disk.syncs(), 1u);
}

TEST_F(ThreadedJournalWriterTest, StopReportsEveryRecord) {
  for (int one = 0; one < 20; ++one) write();
  writer->stop();
  std::size_t written = 0;
  for (const auto& line : calls) written += std::stoul(line.substr(8));
  while (!tasks.empty()) run_task();
  EXPECT_EQ(written, 20u);
  EXPECT_EQ(journal->newest(), 20u);
}

TEST_F(ThreadedJournalWriterTest, RecordsWrittenBeforeFailureIsReportedFailToo) {
  write();
  wait_for(1);
  while (disk.syncs() == 0) std::this_thread::yield();
  disk.fail_next_syncs(1);
  write();  // fails, perhaps before the first is reported
  const auto after_failure = [this] { return disk.syncs() >= 1 && journal->newest() == 1; };
  while (!after_failure()) std::this_thread::yield();
  when_written = [this] { write(); };  // as a listener may do on the report of the first
  while (calls.empty() || calls.back() != "failed") run_task();
  EXPECT_EQ(journal->newest(), 1u) << "nothing is appended behind the failed record";
  write();
  run_task();
  EXPECT_EQ(calls.back(), "written 1") << "the writer works again";
  EXPECT_EQ(journal->newest(), 2u);
}

}  // namespace
}  // namespace relay::store
