/// The store without a file: for tests, simulation and workspaces without persistence.
///
/// Invariants: the same results as the durable store (one suite runs over both); deterministic: every container is
///   ordered, no clock, no randomness. A group can be undone: each change adds its inverse to a list. Bounded: after a
///   commit that exceeds `max_bytes` the oldest settled messages are removed, and the oldest events if they exceed
///   their share; pending messages stay.
/// Threading: one thread at a time.
#pragma once

#include <functional>
#include <vector>

#include "store/memory/tables.h"
#include "store/message_store.h"

namespace relay::store {

class MemoryStore final : public MessageStore {
 public:
  static constexpr std::uint64_t kDefaultBytes = 64 << 20;

  /// A caller that replaces one memory store by another gives each a different id.
  explicit MemoryStore(std::string id = "memory", std::int64_t first_key = 0, std::uint64_t max_bytes = kDefaultBytes)
      : id_{std::move(id)}, max_bytes_{max_bytes} {
    tables_.newest = first_key;
  }

  Result<records::WorkspaceState> load() override;

  Result<void> begin(CommitDurability durability = CommitDurability::Full) override;
  Result<void> set_journal_position(JournalReach) override { return {}; }
  Result<void> apply(const records::Change& change) override;
  Result<void> commit() override;
  Result<records::EventSeq> newest_event() override { return tables_.log.newest(); }
  void rollback() override;

  Result<records::BacklogPage> backlog(const records::BacklogRequest& request) override;
  Result<records::ExpireResult> expire(const records::ExpireRequest& request) override;

  Result<bool> index_step(std::size_t max_rows) override;
  Result<bool> prune_step(const Retention& retention, WallMs now, std::size_t max_rows) override;

  Result<std::vector<records::MessageRow>> messages(const records::MessageQuery& query) override;
  Result<records::Trace> trace(const std::string& id_or_prefix) override;
  Result<records::StoreStats> stats() override;
  Result<records::HeldPage> held(const records::HeldRequest& request) override;
  Result<std::vector<records::DeliveryRow>> deliveries(const records::DeliveryQuery& query) override;
  Result<records::EventPage> events(const records::EventQuery& query) override;
  Result<std::vector<records::UsageSum>> usage(const records::UsageQuery& query) override;
  Result<records::SessionRow> session(const SessionId& id) override;

  Result<std::unique_ptr<MessageReader>> open_reader() override;

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
  void log(MemoryEventLog::Row row);
  void log_entry(const MemoryTables::DeliveryRow& row, const SessionId& session, WallMs at);
  [[nodiscard]] std::string encode(records::EventSeq number, const MemoryEventLog::Row& row,
                                   const records::PriceOf& price_of);

  /// Sets a map's entry and records how to restore the old one.
  template <class Map>
  void put(Map& map, const typename Map::key_type& key, typename Map::mapped_type value);
  template <class Map>
  void erase(Map& map, const typename Map::key_type& key);
  /// Removes a message and its deliveries unless one of them is pending.
  void remove_unless_pending(std::int64_t message);
  /// Increments a count of an agent; no effect for a name without an agent.
  void count(const AgentName& agent, std::uint64_t records::WorkspaceState::Counts::* counter);
  /// Replaces a delivery, adds its history entry and records how to undo both.
  void advance(MemoryTables::DeliveryRow& row, records::Delivery next, records::HistoryEntry entry);
  void enforce_limit();
  std::vector<std::int64_t> find_keys(const std::string& id_or_prefix) const;

  std::string id_;
  std::uint64_t max_bytes_;
  MemoryTables tables_;
  bool in_group_ = false;
  std::int64_t newest_before_ = 0;  // the newest key before the group
  std::vector<std::function<void()>> undo_;
  std::int64_t prune_position_ = 0;  // of the current round of retention
};

}  // namespace relay::store
