/// Records the reports of a store queue as lines.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/format.h"
#include "store/queue/store_queue.h"

namespace relay::store {

class RecordingListener final : public StoreListener {
 public:
  void on_committed(records::CommitTicket up_to, records::EventSeq) override {
    calls.push_back(format("committed {}", up_to.value()));
  }
  void on_commit_failed(records::CommitTicket from, records::CommitTicket to, const Error& error) override {
    calls.push_back(format("failed {}-{}", from.value(), to.value()));
    commit_error = error.message();
  }
  void on_backlog(Result<records::BacklogPage> page, const records::BacklogRequest& request) override {
    calls.push_back(page ? format("backlog {} {}", request.to.value(), page->items.size())
                         : format("no backlog {}", request.to.value()));
  }
  void on_expired(Result<records::ExpireResult> result) override {
    calls.push_back(result ? format("expired {}", result->expired.size()) : "not expired");
  }
  void on_query_result(QueryId id, Result<QueryResult> result) override {
    std::size_t rows = 0;
    if (result) {
      if (const auto* found = std::get_if<std::vector<records::MessageRow>>(&*result)) rows = found->size();
      if (const auto* found = std::get_if<records::HeldPage>(&*result)) rows = found->items.size();
      if (const auto* found = std::get_if<std::vector<records::DeliveryRow>>(&*result)) rows = found->size();
    }
    calls.push_back(result ? format("result {} {}", id.value(), rows) : format("no result {}", id.value()));
  }
  void on_damage(const Damage& damage) override { calls.push_back("damage: " + damage.message()); }

  std::vector<std::string> calls;
  std::string commit_error;  // of the last failed commit
};

}  // namespace relay::store
