#include "store/journal/recovery.h"

#include <algorithm>

#include "base/log.h"
#include "store/queue/store_batch.h"

namespace relay::store {
namespace {

constexpr std::size_t kGroupCommits = 1'000;

/// Applies commits in groups. A commit that contradicts the store is applied change by change: after damage it may
/// build on a lost one, or the store may have it already.
class Recovery {
 public:
  /// The store has, or had, the commits up to `applied`: their events are not added twice.
  Recovery(SqliteStore& store, CommitNumber applied) : store_{store}, applied_{applied} {}

  Result<void> add(JournalReach reach, records::Changes changes) {
    const bool again = reach.commits <= applied_;
    if (again)
      std::erase_if(changes, [](const records::Change& change) {
        return std::holds_alternative<records::AddEvent>(change) ||
               std::holds_alternative<records::AddSessionStats>(change);
      });
    batch_.emplace_back(PersistRequest{.ticket = records::CommitTicket{reach.commits},
                                       .changes = std::move(changes),
                                       .journal_position = reach,
                                       .durability = CommitDurability::CoveredByJournal,
                                       .piecewise = again});
    return batch_.size() < kGroupCommits ? Result<void>{} : finish();
  }

  Result<void> finish() {
    while (!batch_.empty()) {
      std::get<PersistRequest>(batch_.back()).durability = CommitDurability::Full;
      auto outcome = execute(store_, batch_);
      store_.add_damage(std::move(outcome.damage));
      if (!outcome.failed) break;
      if (!is(outcome.failed->error, Errc::BadChange)) return Failure{outcome.failed->error};
      log::warn("journaled commit contradicts the message store; applying its changes one by one",
                {{"reason", outcome.failed->error.message()}});
      std::erase_if(batch_, [&](const BatchRequest& request) {
        return std::get<PersistRequest>(request).ticket < outcome.failed->first;
      });
      std::get<PersistRequest>(batch_.front()).piecewise = true;
    }
    batch_.clear();
    return {};
  }

 private:
  SqliteStore& store_;
  CommitNumber applied_;
  std::vector<BatchRequest> batch_;
};

}  // namespace

Result<std::unique_ptr<Journal>> recover_journal(SqliteStore& store, const SqliteOptions& options) {
  auto position = RELAY_TRY(store.journal_position());
  if (position.is_new) {
    // An empty database beside a journal: the journal's commits are recovered, the ones before them are counted as
    // lost.
    if (const auto beside = Journal::store_beside(options.path, options.vfs)) {
      RELAY_TRY(store.adopt_journal(*beside));
      position.id = *beside;
    }
  }
  const auto applied = position.applied.commits > 0 ? position.applied.commits : UINT64_MAX;
  Recovery recovery{store, position.salvaged ? applied : 0};
  auto journal = RELAY_TRY(Journal::open(
      {.database = options.path,
       .vfs = options.vfs,
       .id = position.id,
       .applied = position.applied,
       .now = options.now,
       .power_lost = position.power_lost,
       .replay_all = position.salvaged},
      [&](JournalReach reach, records::Changes changes) { return recovery.add(reach, std::move(changes)); }));
  RELAY_TRY(recovery.finish());
  if (journal->damage().lost_messages > 0) RELAY_TRY(store.renew_identity());
  // The files are overwritten from here on, so the store must have their commits on disk, not only in the page cache of
  // the machine, where an earlier process may have left them. This also reports a loss only once.
  if (journal->found_files() || journal->newest() > position.applied.commits)
    RELAY_TRY(recovery.add(journal->reach(), {}));
  RELAY_TRY(recovery.finish());
  RELAY_TRY(store.retry_refused());
  RELAY_TRY(store.finish_recovery(journal->reach().messages));
  return journal;
}

}  // namespace relay::store
