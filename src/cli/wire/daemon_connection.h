/// A short conversation with the daemon, for programs that ask, hear and leave.
///
/// Why beside client/: a command must start and end within a few milliseconds and talks to one peer, so plain poll(2)
///   and a deadline are all it needs; no loop, no reconnection, no outbox.
/// Invariants: nothing waits beyond its deadline; PINGs are answered while waiting; frames come out in order.
/// Threading: one thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "protocol/envelope.h"
#include "protocol/frame.h"

namespace relay::cli {

enum class Errc {
  NoDaemon,  // nobody listens there
  TimedOut,
  Lost,       // the daemon went away in mid-sentence
  Refused,    // the daemon said no
  TooLarge,   // a text that would not fit a frame
  NameInUse,  // somebody else has it
  BadAnswer,
  OutputClosed,  // the other end of our output is gone
  NoSuchAgent,   // nobody of that name runs here
  HostGone,      // the host of an agent ended in mid-sentence
  Interrupted,   // Ctrl-C while we waited
};
std::string_view describe(Errc code);

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr std::chrono::milliseconds kAnswerTimeout{5'000};
Deadline in(std::chrono::milliseconds delay);

/// True when the descriptor became ready, false when time ran out. An error NobodyReads when nobody can read `output` any
/// more, Interrupted when `interrupts` is readable (interrupts.h).
Result<bool> wait_for(int fd, short events, Deadline deadline, int output = -1, int interrupts = -1);

/// A frame with the bytes it lives in.
struct Frame {
  std::unique_ptr<std::string> bytes;
  protocol::Envelope envelope;
};

class DaemonConnection {
 public:
  static Result<DaemonConnection> open(const std::string& socket_path);

  /// Writes one frame; an empty id is replaced by a fresh one, which is returned.
  Result<std::string> send(protocol::OutEnvelope envelope);

  /// The next frame that is no PING. An error TimedOut when none came in time.
  Result<Frame> receive(Deadline deadline);

  /// HELLO as part of the system: may look at everything, appears in no listing. Needs the token of the daemon's home.
  Result<void> say_hello(std::string_view system_token, std::chrono::milliseconds timeout = kAnswerTimeout);

  /// The payload of the answer with the request's id, or of the result that names it; other frames are passed over. An ERROR frame is Refused.
  Result<std::string> request(protocol::MessageType type, std::string_view payload,
                              std::chrono::milliseconds timeout = kAnswerTimeout, std::string_view claim_token = {});

  /// From now on waiting also ends, with NobodyReads, when nobody can read that descriptor any more (`… | head -1`).
  void end_with(int output) { output_ = output; }
  /// From now on waiting for a frame, or for room to send one, also ends, with Interrupted, when that descriptor is
  /// readable (interrupts.h).
  void end_on_interrupt(int interrupts) { interrupts_ = interrupts; }

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  explicit DaemonConnection(UniqueFd fd, std::string path) : fd_{std::move(fd)}, path_{std::move(path)} {}
  Result<void> read_some(Deadline deadline);

  UniqueFd fd_;
  std::string path_;
  protocol::FrameReader reader_;
  int output_ = -1;
  int interrupts_ = -1;
};

}  // namespace relay::cli
