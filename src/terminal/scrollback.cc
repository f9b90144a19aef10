#include "terminal/scrollback.h"

#include <utility>

namespace relay::terminal {

void Scrollback::push(ScrolledRow row) {
  bytes_ += cost(row);
  ++end_;
  rows_.push_back(std::move(row));
  while (!rows_.empty() && (rows_.size() > max_rows_ || bytes_ > max_bytes_)) {
    bytes_ -= cost(rows_.front());
    rows_.pop_front();
  }
}

void Scrollback::clear() {
  rows_.clear();
  bytes_ = 0;
}

const ScrolledRow* Scrollback::row(std::uint64_t number) const {
  if (number < first() || number >= end_) return nullptr;
  return &rows_[static_cast<std::size_t>(number - first())];
}

}  // namespace relay::terminal
