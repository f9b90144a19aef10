/// One line on stderr that is redrawn with every step on a terminal; nothing elsewhere.
///
/// The destructor clears the line. Callers sanitize foreign text.
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
  /// stderr is a terminal.
  [[nodiscard]] bool is_live() const { return live_; }

 private:
  const Context& context_;
  bool live_ = false, visible_ = false;
};

/// `████████░░░░`: a progress bar of `columns`, in Unicode or ASCII.
std::string progress_bar(double share, std::size_t columns, bool unicode);

}  // namespace relay::cli
