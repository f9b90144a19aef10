/// One line on stderr that is written anew with every step, where a person watches; nothing elsewhere.
///
/// The line is gone when this is. Words of others are made safe by whoever shows them.
#pragma once

#include <string_view>

#include "cli/framework/context.h"

namespace relay::cli {

class StatusLine {
 public:
  explicit StatusLine(const Context& context);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(std::string_view line);
  void clear();
  /// Somebody watches.
  [[nodiscard]] bool is_live() const { return live_; }

 private:
  const Context& context_;
  bool live_ = false, shown_ = false;
};

/// `████████░░░░`: that share of `columns`, or the same in ASCII.
std::string bar(double share, std::size_t columns, bool unicode);

}  // namespace relay::cli
