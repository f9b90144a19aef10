/// The event log in memory: rows with consecutive numbers, dropped from the low end. Private to src/store.
///
/// Invariants: times never go back, so a time is found by binary search; numbers continue whatever is dropped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <ranges>
#include <string_view>

#include "records/events.h"

namespace relay::store {

class MemoryEventLog {
 public:
  struct Row {
    std::string_view type;  // a literal, or that of `other`
    WallMs at = 0;
    AgentName agent = {};
    SessionId session = {};
    std::int64_t message = 0;                             // 0: none
    std::int64_t delivery = 0;                            // 0: none
    std::size_t entry = 0;                                // of its history
    std::unique_ptr<const records::EventRow> other = {};  // an event that is neither a message nor a history entry
  };

  void add(Row row) {
    if (!rows_.empty()) row.at = std::max(row.at, rows_.back().at);
    bytes_ += size_of(row);
    rows_.push_back(std::move(row));
    ++newest_;
  }
  void pop_newest() {
    bytes_ -= size_of(rows_.back());
    rows_.pop_back();
    --newest_;
  }
  void drop_oldest() {
    bytes_ -= size_of(rows_.front());
    rows_.pop_front();
  }

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// The last number assigned.
  [[nodiscard]] records::EventSeq newest() const { return newest_; }
  /// The first row's number; of an empty log, the next row's.
  [[nodiscard]] records::EventSeq oldest() const { return newest_ - rows_.size() + 1; }
  [[nodiscard]] const Row& at(records::EventSeq number) const {
    return rows_[static_cast<std::size_t>(number - oldest())];
  }
  /// The first row not before a time; newest() + 1 when there is none.
  [[nodiscard]] records::EventSeq first_since(WallMs time) const {
    const auto found = std::ranges::lower_bound(rows_, time, {}, &Row::at);
    return oldest() + static_cast<records::EventSeq>(found - rows_.begin());
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t size_of(const Row& row) {
    const auto text = row.agent.value().size() + row.session.value().size();
    return sizeof(Row) + text + (row.other ? sizeof(records::EventRow) + row.other->body.size() : 0);
  }

  std::deque<Row> rows_;
  records::EventSeq newest_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace relay::store
