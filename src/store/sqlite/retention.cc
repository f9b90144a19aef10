#include "store/sqlite/retention.h"

#include <algorithm>
#include <vector>

#include "store/message_rows.h"
#include "store/sqlite/events.h"
#include "store/sqlite/queries.h"
#include "store/sqlite/removal.h"

namespace relay::store {
namespace {

constexpr std::int64_t kSparePages = 256;  // free pages left for the next messages (2 MiB)
constexpr std::int64_t kShrinkStepPages = 256;
constexpr std::int64_t kRowOverheadBytes = 400;  // of a message besides its payload: row, delivery, indexes

struct Candidate {
  std::int64_t measure = 0;  // its time, or the bytes that its removal frees
  std::int64_t key = 0;
};

Result<std::int64_t> used_bytes(SqliteConnection& connection) {
  const auto pages = RELAY_TRY(connection.integer("PRAGMA page_count"));
  const auto free = RELAY_TRY(connection.integer("PRAGMA freelist_count"));
  return (pages - free) * RELAY_TRY(connection.integer("PRAGMA page_size"));
}

/// Takes the statement, so that it is reset before rows are removed.
Result<std::vector<Candidate>> read_candidates(CachedStatement statement) {
  std::vector<Candidate> candidates;
  while (RELAY_TRY(statement->step())) candidates.push_back({statement->integer(0), statement->integer(1)});
  return candidates;
}

}  // namespace

Result<bool> SqliteRetention::step(SqliteConnection& connection, const Retention& retention, WallMs now,
                                   std::size_t max_rows) {
  phase_done_ = false;
  switch (phase_) {
    case Phase::Age:
      if (retention.max_age_ms > 0) {
        RELAY_TRY(remove_by_age(connection, now - retention.max_age_ms, max_rows));
      } else {
        phase_done_ = true;
      }
      break;
    case Phase::Size:
      if (retention.max_bytes > 0) {
        RELAY_TRY(remove_by_size(connection, retention.max_bytes, max_rows));
      } else {
        phase_done_ = true;
      }
      break;
    case Phase::Related: RELAY_TRY(remove_related(connection, retention, now, max_rows)); break;
    case Phase::Events:
      phase_done_ = retention.max_event_age_ms <= 0 ||
                    !RELAY_TRY(prune_events(connection, now - retention.max_event_age_ms, max_rows));
      break;
    case Phase::Shrink: RELAY_TRY(shrink(connection)); break;
  }
  if (!phase_done_) return true;
  scanned_key_ = 0;
  if (phase_ == Phase::Shrink) {
    phase_ = Phase::Age;
    return false;
  }
  phase_ = static_cast<Phase>(static_cast<int>(phase_) + 1);
  return true;
}

Result<void> SqliteRetention::remove_by_age(SqliteConnection& connection, WallMs older_than, std::size_t max_rows) {
  const auto end = RELAY_TRY(first_message_since(connection, older_than));
  auto find = RELAY_TRY(connection.use("SELECT ts, key FROM messages WHERE key>?1 AND key<?2 ORDER BY key LIMIT ?3"));
  find->bind(scanned_key_, end, static_cast<std::int64_t>(max_rows));
  const auto candidates = RELAY_TRY(read_candidates(std::move(find)));
  if (candidates.size() < max_rows) phase_done_ = true;
  if (candidates.empty()) return {};
  MessageRemover remover = RELAY_TRY(MessageRemover::prepare(connection));
  std::size_t rows = 0;
  for (const auto& candidate : candidates) {
    scanned_key_ = candidate.key;
    if (candidate.measure >= older_than) continue;  // the clock was set back after this message
    rows += RELAY_TRY(remover.remove_unless_pending(candidate.key));
    // A broadcast has many deliveries; the step ends early and the next one continues here.
    if (rows >= max_rows) {
      phase_done_ = false;
      break;
    }
  }
  return {};
}

Result<void> SqliteRetention::remove_by_size(SqliteConnection& connection, std::uint64_t max_bytes,
                                             std::size_t max_rows) {
  auto excess =
      RELAY_TRY(used_bytes(connection)) - static_cast<std::int64_t>(std::min<std::uint64_t>(max_bytes, INT64_MAX));
  if (excess <= 0) {
    phase_done_ = true;
    return {};
  }
  // A log beyond its share is pruned before any message.
  if (RELAY_TRY(event_bytes(connection)) > max_bytes / kEventDivisor) {
    RELAY_TRY(prune_events(connection, INT64_MAX, max_rows));
    return {};
  }
  auto find =
      RELAY_TRY(connection.use("SELECT length(payload)+?3, key FROM messages WHERE key>?1 ORDER BY key LIMIT ?2"));
  find->bind(scanned_key_, static_cast<std::int64_t>(max_rows), kRowOverheadBytes);
  const auto candidates = RELAY_TRY(read_candidates(std::move(find)));
  if (candidates.size() < max_rows) phase_done_ = true;
  if (candidates.empty()) return {};
  MessageRemover remover = RELAY_TRY(MessageRemover::prepare(connection));
  std::size_t rows = 0;
  for (const auto& candidate : candidates) {
    const auto removed = RELAY_TRY(remover.remove_unless_pending(candidate.key));
    scanned_key_ = candidate.key;
    rows += removed;
    // Pages become free only at the commit, so the gain of this step is estimated; the next step measures again.
    if (removed > 0) excess -= candidate.measure;
    if (rows >= max_rows || excess <= 0) {
      phase_done_ = false;
      break;
    }
  }
  return {};
}

Result<void> SqliteRetention::remove_related(SqliteConnection& connection, const Retention& retention, WallMs now,
                                             std::size_t max_rows) {
  phase_done_ = true;
  if (retention.max_age_ms <= 0) return {};
  const WallMs old = now - retention.max_age_ms;
  struct Sweep {
    const char* sql;
    WallMs before;
  };
  const Sweep sweeps[] = {
      {"DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE ended<>0 AND ended<?1 LIMIT ?2) RETURNING 1",
       old},
      {"DELETE FROM proposals WHERE id IN (SELECT id FROM proposals WHERE outcome IS NOT NULL AND expires_at<?1 LIMIT "
       "?2)"
       " RETURNING 1",
       old},
      {"DELETE FROM outbox_marks WHERE (sender,epoch) IN (SELECT sender,epoch FROM outbox_marks WHERE updated<?1 LIMIT "
       "?2)"
       " RETURNING 1",
       std::min(old, now - records::kOutboxMarkRetentionMs)},
      {"DELETE FROM usage WHERE (session,request) IN (SELECT session,request FROM usage INDEXED BY usage_by_time WHERE "
       "at<?1 LIMIT ?2) RETURNING 1",
       old},
      {"DELETE FROM session_files WHERE session IN (SELECT session FROM session_stats WHERE at<?1 LIMIT ?2) RETURNING "
       "0",
       old},
      {"DELETE FROM session_stats WHERE session IN (SELECT session FROM session_stats WHERE at<?1 LIMIT ?2) RETURNING "
       "1",
       old},
  };
  for (const auto& sweep : sweeps) {
    const auto remove = RELAY_TRY(connection.use(sweep.sql));
    remove->bind(sweep.before, static_cast<std::int64_t>(max_rows));
    std::size_t removed = 0;
    while (RELAY_TRY(remove->step())) ++removed;
    if (removed == max_rows) phase_done_ = false;
  }
  return {};
}

Result<void> SqliteRetention::shrink(SqliteConnection& connection) {
  const auto spare = RELAY_TRY(connection.integer("PRAGMA freelist_count")) - kSparePages;
  if (spare <= 0) {
    phase_done_ = true;
    return {};
  }
  static_assert(kShrinkStepPages == 256, "the statement below has the same number");
  RELAY_TRY(connection.execute("PRAGMA incremental_vacuum(256)"));
  phase_done_ = spare <= kShrinkStepPages;
  return {};
}

}  // namespace relay::store
