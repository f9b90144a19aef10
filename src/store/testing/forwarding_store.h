/// A store that forwards every call to another one; tests override the calls that they observe.
#pragma once

#include "store/message_store.h"

namespace relay::store {

class ForwardingStore : public MessageStore {
 public:
  Result<records::WorkspaceState> load() override { return target().load(); }

  Result<void> begin(CommitDurability durability) override { return target().begin(durability); }
  Result<void> apply(const records::Change& change) override { return target().apply(change); }
  Result<void> set_journal_position(JournalReach reach) override { return target().set_journal_position(reach); }
  Result<void> commit() override { return target().commit(); }
  Result<records::EventSeq> newest_event() override { return target().newest_event(); }
  void rollback() override { target().rollback(); }

  Result<records::BacklogPage> backlog(const records::BacklogRequest& request) override {
    return target().backlog(request);
  }
  Result<records::ExpireResult> expire(const records::ExpireRequest& request) override {
    return target().expire(request);
  }

  Result<bool> index_step(std::size_t max_rows) override { return target().index_step(max_rows); }
  Result<bool> prune_step(const Retention& retention, WallMs now, std::size_t max_rows) override {
    return target().prune_step(retention, now, max_rows);
  }
  Result<bool> check_some(std::size_t max_bytes) override { return target().check_some(max_bytes); }
  Result<Damage> keep_refused(const records::Change& change) override { return target().keep_refused(change); }

  Result<std::vector<records::MessageRow>> messages(const records::MessageQuery& query) override {
    return target().messages(query);
  }
  Result<records::Trace> trace(const std::string& id_or_prefix) override { return target().trace(id_or_prefix); }
  Result<records::StoreStats> stats() override { return target().stats(); }
  Result<records::HeldPage> held(const records::HeldRequest& request) override { return target().held(request); }
  Result<std::vector<records::DeliveryRow>> deliveries(const records::DeliveryQuery& query) override {
    return target().deliveries(query);
  }
  Result<records::EventPage> events(const records::EventQuery& query) override { return target().events(query); }
  Result<std::vector<records::UsageSum>> usage(const records::UsageQuery& query) override {
    return target().usage(query);
  }
  Result<records::SessionRow> session(const SessionId& id) override { return target().session(id); }

  Result<std::unique_ptr<MessageReader>> open_reader() override { return target().open_reader(); }

 protected:
  /// The store that gets the calls; the derived class owns it.
  virtual MessageStore& target() = 0;
};

}  // namespace relay::store
