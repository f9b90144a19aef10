/// Signals sent to us, passed on to a child that shares our process group.
///
/// Why: whoever signals the process it started means the program inside. A signal from the keyboard reaches the whole
///   group, so the child has it already and it is not sent a second time. A signal that somebody sends to the group arrives
///   twice; the two cannot be told apart.
/// Invariants: from its making on none of these signals ends us, and none is lost: what comes before `to` is sent then. A
///   signal that was ignored when we were started stays ignored.
/// Ownership: borrows the loop, which outlives it. Threading: made on the loop's thread, before any other is started.
#pragma once

#include <sys/types.h>

#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::net {
class AsioLoop;
class ReadableWatch;
}  // namespace relay::net

namespace relay::pty {

class ForwardedSignals {
 public:
  static Result<std::unique_ptr<ForwardedSignals>> open();
  ~ForwardedSignals();
  ForwardedSignals(const ForwardedSignals&) = delete;
  ForwardedSignals& operator=(const ForwardedSignals&) = delete;

  /// From now on to this child, until `stop`.
  void to(net::AsioLoop& loop, pid_t child);
  /// The child is gone, and its number may be another's.
  void stop();

 private:
  explicit ForwardedSignals(UniqueFd signals);
  void forward();

  UniqueFd signals_;
  pid_t child_ = -1;
  std::unique_ptr<net::ReadableWatch> watch_;
};

}  // namespace relay::pty
