/// A helper program without a terminal that exchanges lines over its standard input and output.
///
/// Why: some agents accept messages only through a program of their own with such an interface.
/// Invariants: a line longer than kMaxLine, or more than kMaxUnread of unread input, ends the program. Its standard
///   error is discarded. After `on_ended` there are no more calls. Destroying it ends the program and everything it
///   started.
/// Ownership: the listener outlives it; it may be destroyed inside any call to the listener. Threading: loop thread
///   only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pty/command.h"

namespace relay::net {
class AsioLoop;
}

namespace relay::pty {

class LineProcessListener {
 public:
  virtual ~LineProcessListener() = default;
  virtual void on_line(std::string_view line) = 0;
  virtual void on_ended(const std::string& reason) = 0;
};

class LineProcess {
 public:
  static constexpr std::size_t kMaxLine = 4U << 20;
  static constexpr std::size_t kMaxUnread = 4U << 20;

  static Result<std::unique_ptr<LineProcess>> start(net::AsioLoop& loop, const Command& command,
                                                    LineProcessListener& listener);
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  /// The line without its end, which is added.
  void write_line(std::string_view line);

 private:
  class Core;
  explicit LineProcess(std::shared_ptr<Core> core) : core_{std::move(core)} {}
  std::shared_ptr<Core> core_;
};

}  // namespace relay::pty
