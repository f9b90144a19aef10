/// A connected, ordered byte stream, and the interfaces that create one.
///
/// Invariants: `write` never blocks and never fails; bytes wait in a queue that is flushed once per loop turn (one
///   system call for many frames). After `on_closed` there are no more calls. A stream may be destroyed inside any of
///   its own callbacks; destroying it without `close` drops the pending bytes.
/// Threading: loop thread only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::net {

/// Credentials of the program at the other end, from the kernel.
struct Peer {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
};

enum class Drain { No, Yes };

class StreamListener {
 public:
  virtual ~StreamListener() = default;
  /// The bytes are valid until this returns.
  virtual void on_bytes(std::string_view bytes) = 0;
  /// The kernel took pending bytes; `bytes_left` are still pending. It shows that the peer reads only if bytes were
  /// left before: the first bytes fit into a kernel buffer whether or not the peer reads.
  virtual void on_written(std::size_t bytes_left) = 0;
  /// Last call: the stream ended. The reason is for users.
  virtual void on_closed(const std::string& reason) = 0;
};

class Stream {
 public:
  virtual ~Stream() = default;

  /// Starts reading. The listener outlives the stream.
  virtual void start(StreamListener& listener) = 0;
  virtual void write(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::size_t bytes_waiting() const = 0;

  virtual void pause_reading() = 0;
  virtual void resume_reading() = 0;

  /// Drain::Yes sends the pending bytes first (for at most a second), No drops them. `on_closed` is not called, and the
  /// Stream may be destroyed at once: draining continues without it.
  virtual void close(Drain drain) = 0;

  [[nodiscard]] virtual Peer peer() const = 0;
};

/// Accepts connections at one path until destroyed.
class Listener {
 public:
  virtual ~Listener() = default;
  [[nodiscard]] virtual const std::string& path() const = 0;
  /// False once the socket at its path was removed or replaced: new clients cannot find it.
  [[nodiscard]] virtual bool is_reachable() const { return true; }
};

using OnAccept = std::move_only_function<void(std::unique_ptr<Stream>)>;
using OnConnect = std::move_only_function<void(Result<std::unique_ptr<Stream>>)>;

/// Creates streams, real or simulated.
class Network {
 public:
  virtual ~Network() = default;
  virtual Result<std::unique_ptr<Listener>> listen(const std::string& path, OnAccept on_accept) = 0;
  virtual void connect(const std::string& path, OnConnect on_connect) = 0;
};

}  // namespace relay::net
