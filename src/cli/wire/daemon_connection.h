/// A short blocking connection to the daemon, for commands that send a few requests and exit.
///
/// Why not client/: a command must run within a few milliseconds and has one peer, so poll(2) and a deadline are enough; no
///   loop, no reconnect, no outbox.
/// Invariants: no call blocks beyond its deadline; it answers PINGs while it waits; frames are returned in order.
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
  NoDaemon,  // no listener
  TimedOut,
  Lost,       // the daemon closed the connection
  Refused,    // the daemon refused
  TooLarge,   // the text does not fit in a frame
  NameInUse,  // another client has it
  BadResponse,
  OutputClosed,  // the reader of stdout has closed
  NoSuchAgent,   // no agent of that name runs here
  HostGone,      // the host closed the connection
  Interrupted,   // Ctrl-C during a wait
};
std::string_view describe(Errc code);

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr std::chrono::milliseconds kResponseTimeout{5'000};
Deadline in(std::chrono::milliseconds delay);

/// True when the descriptor is ready, false at the deadline. Fails with OutputClosed when the reader of `output` has closed,
/// and with Interrupted when `interrupts` is readable (interrupts.h).
Result<bool> wait_for(int fd, short events, Deadline deadline, int output = -1, int interrupts = -1);

/// A frame with the buffer that its envelope points into.
struct Frame {
  std::unique_ptr<std::string> bytes;
  protocol::Envelope envelope;
};

class DaemonConnection {
 public:
  static Result<DaemonConnection> open(const std::string& socket_path);

  /// Writes one frame and returns its id; an empty id is replaced by a generated one.
  Result<std::string> send(protocol::OutEnvelope envelope);

  /// The next frame other than PING. Fails with TimedOut at the deadline.
  Result<Frame> receive(Deadline deadline);

  /// HELLO as a system component: may read everything, is in no listing. Needs the token in the daemon's home.
  Result<void> say_hello(std::string_view system_token, std::chrono::milliseconds timeout = kResponseTimeout);

  /// Returns the payload of the response: the frame with the id of the request, or the `*_RESULT` that names it. Skips other
  /// frames. An ERROR frame is Refused.
  Result<std::string> request(protocol::MessageType type, std::string_view payload,
                              std::chrono::milliseconds timeout = kResponseTimeout, std::string_view claim_token = {});

  /// Makes waits fail with OutputClosed when the reader of that descriptor has closed (`… | head -1`).
  void watch_output(int output) { output_ = output; }
  /// Makes waits, for a frame or for room to send one, fail with Interrupted when that descriptor is readable
  /// (interrupts.h).
  void watch_interrupts(int interrupts) { interrupts_ = interrupts; }

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
