/// Writes changes as rows. Private to src/store.
///
/// Invariants: runs inside the caller's transaction and never ends it; refuses a delivery without its message. Rows
///   that a group adds are batched and written at its end or before a read: see flush_batches().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "records/changes.h"
#include "records/queries.h"
#include "store/message_store.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/delivery_batch.h"
#include "store/sqlite/events.h"
#include "store/sqlite/names.h"
#include "store/sqlite/row_batch.h"

namespace relay::store {

class SqliteWriter {
 public:
  explicit SqliteWriter(SqliteConnection& connection)
      : connection_{connection}, names_{connection}, events_{connection, names_}, deliveries_{connection, events_} {}

  Result<void> apply(const records::Change& change);
  /// The group contains the journal's commits up to `reach`.
  void set_journal_position(JournalReach reach, CommitDurability durability) {
    journal_reach_ = reach;
    durability_ = durability;
  }
  /// Writes the batched messages, deliveries and events as rows: before anything reads them.
  Result<void> flush_batches();
  /// Flushes the batches and writes all other rows that are written once per group; before the commit.
  Result<void> finish_group();
  Result<records::ExpireResult> expire(const records::ExpireRequest& request);
  Result<records::EventSeq> newest_event() { return events_.newest(); }
  /// Retention may have removed messages between two groups.
  void on_pruned() { newest_message_ = {}; }
  /// The group was rolled back: clears every cache.
  void on_rollback();

 private:
  Result<void> on(const records::AddMessage& change);
  Result<void> on(const records::AddDelivery& change);
  Result<void> on(const records::ChangeDelivery& change);
  Result<void> on(const records::RequeueDelivery& change);
  Result<void> on(const records::SetStream& change);
  Result<void> on(const records::PutAgent& change);
  Result<void> on(const records::RemoveAgent& change);
  Result<void> on(const records::PutSession& change);
  Result<void> on(const records::JoinChannel& change);
  Result<void> on(const records::LeaveChannel& change);
  Result<void> on(const records::SetOutboxMark& change);
  Result<void> on(const records::PutProposal& change);
  Result<void> on(const records::AddEvent& change);
  Result<void> on(const records::PutUsage& change);
  Result<void> on(const records::AddSessionStats& change);
  Result<void> on(const records::ForgetStream& change);
  Result<void> on(const records::AddSubscription& change);
  Result<void> on(const records::RemoveSubscription& change);
  Result<void> write(std::int64_t sender, std::int64_t recipient, const records::Stream& stream);
  Result<void> write(const records::OutboxMark& mark);
  /// Drops counts of names without a row in agents.
  Result<void> write_counts();
  [[nodiscard]] std::size_t batch_bytes() const { return messages_.bytes() + events_.bytes() + deliveries_.bytes(); }
  struct MessageFields {
    Key key;
    WallMs ts = 0;
    std::int64_t recipient = 0;
  };
  Result<bool> is_stored(Key message);
  /// The fields of a message that its deliveries need; empty when the message is unknown.
  Result<std::optional<MessageFields>> find(Key message);
  Result<void> remove_messages_of(std::int64_t agent);

  SqliteConnection& connection_;
  SqliteNames names_;
  EventWriter events_;
  DeliveryBatch deliveries_;
  RowBatch messages_;
  /// A group sets the same stream or outbox mark many times; each is written once, at its end. Bounded by the group.
  std::map<std::tuple<std::int64_t, std::int64_t, std::string, protocol::Lane>, records::Stream> streams_;
  std::map<std::pair<std::string, std::string>, records::OutboxMark> marks_;
  struct Counts {
    std::int64_t sent = 0, received = 0;
  };
  std::unordered_map<std::int64_t, Counts> counts_;  // by the number of the name
  JournalReach journal_reach_;                       // by the group; 0: nothing of a journal is in it
  CommitDurability durability_{};                    // of that group
  MessageFields newest_message_;                     // added last, so its deliveries need no look-up
  std::int64_t newest_stored_ = -1;                  // the highest key of all messages; -1: not read yet
  std::int64_t newest_rank_ = 0;                     // of the group, when no row has it as key
};

}  // namespace relay::store
