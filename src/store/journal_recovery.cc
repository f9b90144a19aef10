#include "store/journal_recovery.h"

#include <algorithm>

#include "base/log.h"
#include "store/store_batch.h"

namespace relay::store {
namespace {

constexpr std::size_t kGroupCommits = 1'000;

/// Applies commits in groups. One that contradicts the store is passed over: it could never be applied.
class Recovery {
 public:
  explicit Recovery(MessageStore& store) : store_{store} {}

  Result<void> add(CommitNumber number, records::Changes changes) {
    waiting_.emplace_back(PersistRequest{.ticket = records::Ticket{number},
                                         .changes = std::move(changes),
                                         .journalled = number,
                                         .promise = Promise::ElseKept});
    return waiting_.size() < kGroupCommits ? Result<void>{} : finish();
  }

  Result<void> finish() {
    while (!waiting_.empty()) {
      std::get<PersistRequest>(waiting_.back()).promise = Promise::Kept;
      const auto outcome = carry_out(store_, waiting_);
      if (!outcome.failed) break;
      if (!is(outcome.failed->why, Errc::BadChange)) return Failure{outcome.failed->why};
      log::error("a commit in the journal contradicts the message store and is passed over",
                 {{"reason", outcome.failed->why.message()}});
      const auto passed = std::ranges::find_if(waiting_, [&](const BatchRequest& request) {
        return std::get<PersistRequest>(request).ticket == outcome.failed->first;
      });
      std::get<PersistRequest>(*passed).changes.clear();  // its place is reached all the same
      std::erase_if(waiting_, [&](const BatchRequest& request) {
        return std::get<PersistRequest>(request).ticket < outcome.failed->first;
      });
    }
    waiting_.clear();
    return {};
  }

 private:
  MessageStore& store_;
  std::vector<BatchRequest> waiting_;
};

}  // namespace

Result<std::unique_ptr<Journal>> recover_journal(SqliteStore& store, const SqliteOptions& options) {
  const auto place = RELAY_TRY(store.journal_place());
  Recovery recovery{store};
  auto journal = RELAY_TRY(Journal::open(
      {.database = options.path, .vfs = options.vfs, .id = place.id, .applied = place.applied, .now = options.now},
      [&](CommitNumber number, records::Changes changes) { return recovery.add(number, std::move(changes)); }));
  // Its files are written over from here on: what they held the store must have for good, and not only in the
  // machine's memory, where an earlier life may have left it.
  if (journal->found_files()) RELAY_TRY(recovery.add(journal->newest(), {}));
  RELAY_TRY(recovery.finish());
  return journal;
}

}  // namespace relay::store
