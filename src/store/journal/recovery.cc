#include "store/journal/recovery.h"

#include <algorithm>

#include "base/log.h"
#include "store/queue/store_batch.h"

namespace relay::store {
namespace {

constexpr std::size_t kGroupCommits = 1'000;

/// Applies commits in groups. One that contradicts the store is applied change by change: after damage a commit may build
/// on one that is gone, or be there already.
class Recovery {
 public:
  /// Commits up to `had` are in the store, or were: their events are not told twice.
  Recovery(SqliteStore& store, CommitNumber had) : store_{store}, had_{had} {}

  Result<void> add(JournalReach place, records::Changes changes) {
    const bool again = place.commits <= had_;
    if (again)
      std::erase_if(changes, [](const records::Change& change) {
        return std::holds_alternative<records::AddEvent>(change) ||
               std::holds_alternative<records::AddSessionStats>(change);
      });
    waiting_.emplace_back(PersistRequest{.ticket = records::CommitTicket{place.commits},
                                         .changes = std::move(changes),
                                         .journalled = place,
                                         .promise = CommitDurability::ElseKept,
                                         .piecewise = again});
    return waiting_.size() < kGroupCommits ? Result<void>{} : finish();
  }

  Result<void> finish() {
    while (!waiting_.empty()) {
      std::get<PersistRequest>(waiting_.back()).promise = CommitDurability::Kept;
      auto outcome = execute(store_, waiting_);
      store_.add_damage(std::move(outcome.damage));
      if (!outcome.failed) break;
      if (!is(outcome.failed->why, Errc::BadChange)) return Failure{outcome.failed->why};
      log::warn("a commit of the journal contradicts the message store: its changes are applied one by one",
                {{"reason", outcome.failed->why.message()}});
      std::erase_if(waiting_, [&](const BatchRequest& request) {
        return std::get<PersistRequest>(request).ticket < outcome.failed->first;
      });
      std::get<PersistRequest>(waiting_.front()).piecewise = true;
    }
    waiting_.clear();
    return {};
  }

 private:
  SqliteStore& store_;
  CommitNumber had_;
  std::vector<BatchRequest> waiting_;
};

}  // namespace

Result<std::unique_ptr<Journal>> recover_journal(SqliteStore& store, const SqliteOptions& options) {
  auto place = RELAY_TRY(store.journal_place());
  if (place.is_new) {
    // An empty database beside a journal: what that has is recovered, what it had before is counted as lost.
    if (const auto beside = Journal::store_beside(options.path, options.vfs)) {
      RELAY_TRY(store.adopt_journal(*beside));
      place.id = *beside;
    }
  }
  const auto had = place.applied.commits > 0 ? place.applied.commits : UINT64_MAX;
  Recovery recovery{store, place.salvaged ? had : 0};
  auto journal = RELAY_TRY(Journal::open(
      {.database = options.path,
       .vfs = options.vfs,
       .id = place.id,
       .applied = place.applied,
       .now = options.now,
       .power_lost = place.power_lost,
       .report_all = place.salvaged},
      [&](JournalReach reach, records::Changes changes) { return recovery.add(reach, std::move(changes)); }));
  RELAY_TRY(recovery.finish());
  if (journal->damage().lost_messages > 0) RELAY_TRY(store.renew_identity());
  // Its files are written over from here on: what they held the store must have for good, and not only in the
  // machine's memory, where an earlier life may have left it. What is lost is told once.
  if (journal->found_files() || journal->newest() > place.applied.commits)
    RELAY_TRY(recovery.add(journal->reach(), {}));
  RELAY_TRY(recovery.finish());
  RELAY_TRY(store.retry_refused());
  RELAY_TRY(store.finish_recovery(journal->reach().messages));
  return journal;
}

}  // namespace relay::store
