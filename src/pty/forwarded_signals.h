/// Forwards signals sent to this process to a child in the same process group.
///
/// Why: a signal to this process is intended for the program inside. A signal from the keyboard reaches the whole
///   group, so the child has it already and it is not forwarded. A signal sent to the group arrives twice; the two
///   cases cannot be distinguished.
/// Invariants: once constructed, none of these signals ends this process, and none is lost: signals before `to` are
///   forwarded then. A signal that was ignored at our start stays ignored.
/// Ownership: borrows the loop, which outlives it. Threading: constructed on the loop's thread, before any other
///   thread.
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

  /// Forwards to this child until `stop`.
  void to(net::AsioLoop& loop, pid_t child);
  /// The child has ended, and its number may be reused.
  void stop();

 private:
  explicit ForwardedSignals(UniqueFd signals);
  void forward();

  UniqueFd signals_;
  pid_t child_ = -1;
  std::unique_ptr<net::ReadableWatch> watch_;
};

}  // namespace relay::pty
