#include "victim.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "base/format.h"
#include "base/unique_fd.h"
#include "store/journal/recovery.h"
#include "store/queue/durable_queue.h"
#include "store/testing/sample_records.h"
#include "store/testing/task_queue.h"

namespace relay::damage {
namespace {

using namespace records;

struct Acknowledgement {
  std::int64_t sent = 0, acknowledged = 0;
};

/// Writes each acknowledgement to the pipe.
class AckReporter final : public store::StoreListener {
 public:
  AckReporter(int pipe, std::int64_t first_key) : pipe_{pipe}, first_key_{first_key} {}
  void on_committed(CommitTicket up_to, EventSeq) override { report(key_of(up_to.value())); }
  void on_commit_failed(CommitTicket, CommitTicket, const Error&) override { std::_Exit(3); }
  void on_backlog(Result<BacklogPage>, const BacklogRequest&) override {}
  void on_expired(Result<ExpireResult>) override {}
  void on_query_result(store::QueryId, Result<store::QueryResult>) override {}

  [[nodiscard]] std::int64_t key_of(std::uint64_t ticket) const {
    return first_key_ + 2 * static_cast<std::int64_t>(ticket);
  }
  void report(std::int64_t acknowledged) const {
    const Acknowledgement one{sent, acknowledged};
    if (::write(pipe_, &one, sizeof one) != sizeof one) std::_Exit(4);
  }
  std::int64_t sent = 0;

 private:
  int pipe_;
  std::int64_t first_key_;
};

[[noreturn]] void run_victim(const std::string& directory, store::Durability durability, std::int64_t first_key,
                             int pipe) {
  const auto options = options_of(directory, durability);
  auto opened = store::SqliteStore::open(options);
  if (!opened) std::_Exit(5);
  auto journal = store::recover_journal(**opened, options);
  if (!journal || !(*opened)->load()) std::_Exit(6);
  store::TaskQueue tasks;
  AckReporter reporter{pipe, first_key};
  auto queue = store::make_durable_queue(
      *std::move(opened), *std::move(journal), durability, tasks.post(),
      [](std::chrono::milliseconds, store::TaskQueue::Task) {}, reporter);
  for (std::uint64_t ticket = 1;; ++ticket) {
    reporter.sent = reporter.key_of(ticket);
    reporter.report(0);
    queue->persist(CommitTicket{ticket},
                   store::sample::direct(reporter.sent, "Alice", "Bob", body_of(reporter.sent), ticket),
                   CommitMode::Immediate);
    ticket % 5 == 0 ? tasks.wait_one() : tasks.run_all();
  }
}

}  // namespace

std::string body_of(std::int64_t key) {
  return format("{}:", key) + std::string(static_cast<std::size_t>(key % 900), 'x');
}

store::SqliteOptions options_of(const std::string& directory, store::Durability durability) {
  return {
      .path = directory + "/messages.sqlite", .durability = durability, .now = 1'700'000'000'000, .boot_id = "this"};
}

Result<Stored> store_and_kill(const std::string& directory, store::Durability durability, std::int64_t first_key,
                              std::size_t messages) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return fail_errno("cannot create a pipe");
  UniqueFd read_end{ends[0]}, write_end{ends[1]};
  const auto child = ::fork();
  if (child < 0) return fail_errno("cannot fork");
  if (child == 0) run_victim(directory, durability, first_key, ends[1]);
  write_end.reset();
  Stored stored;
  std::int64_t acknowledged = first_key;
  bool killed = false;
  for (Acknowledgement one; ::read(read_end.get(), &one, sizeof one) == sizeof one;) {
    stored.last_sent = one.sent;
    for (; acknowledged < one.acknowledged; acknowledged += 2) stored.acknowledged.insert(acknowledged + 2);
    if (!killed && stored.acknowledged.size() >= messages) {
      ::kill(child, SIGKILL);
      killed = true;
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!killed) return fail(format("the process exited by itself: {}", status));
  return stored;
}

}  // namespace relay::damage
