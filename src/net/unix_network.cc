#include "net/unix_network.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>

#include "base/format.h"
#include "base/lifetime.h"
#include "base/log.h"
#include "net/readable_watch.h"
#include "net/unix_address.h"
#include "net/unix_stream.h"

namespace relay::net {
namespace {

constexpr int kAcceptsPerTurn = 64;  // bounds a burst of new clients, so that the connected ones do not starve
constexpr Millis kListenRetry{100};  // until the next attempt to accept
constexpr Millis kConnectRetry{10};  // while the listener's queue is full
constexpr int kConnectAttempts = 100;

Result<Peer> peer_of(int fd) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return fail_errno("cannot read the credentials of a client");
  }
  return Peer{credentials.uid, credentials.gid, credentials.pid};
}

class UnixListener final : public Listener {
 public:
  UnixListener(AsioLoop& loop, std::shared_ptr<StreamHub> hub, std::string path, BoundSocket bound, OnAccept on_accept)
      : loop_{loop},
        hub_{std::move(hub)},
        path_{std::move(path)},
        bound_{std::move(bound)},
        on_accept_{std::move(on_accept)},
        watch_{std::make_unique<ReadableWatch>(loop, bound_.fd.get(), [this] { accept_some(); })} {}

  ~UnixListener() override {
    lifetime_.end();
    watch_.reset();
    if (UnixListener::is_reachable()) ::unlink(path_.c_str());
  }

  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] bool is_reachable() const override {
    struct stat status{};
    return ::lstat(path_.c_str(), &status) == 0 && status.st_dev == bound_.device && status.st_ino == bound_.inode;
  }

 private:
  void accept_some() {
    const auto alive = lifetime_.watch();
    for (int i = 0; i < kAcceptsPerTurn && alive; ++i) {
      UniqueFd fd{::accept4(bound_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
      if (!fd) return accept_failed(errno);
      out_of_descriptors_ = false;
      accept(std::move(fd));
    }
  }

  void accept(UniqueFd fd) {
    const auto peer = peer_of(fd.get());
    if (!peer) return log::warn(peer.error().message(), {{"socket", path_}});
    if (peer->uid != ::geteuid()) {
      return log::warn("refused a connection of another user",
                       {{"socket", path_}, {"uid", format("{}", peer->uid)}, {"pid", format("{}", peer->pid)}});
    }
    on_accept_(make_unix_stream(hub_, std::move(fd), *peer));
  }

  void accept_failed(int number) {
    if (number == EAGAIN || number == EINTR || number == ECONNABORTED) return;
    // Nothing is lost: pending clients stay in the kernel's queue. Logged once per shortage, not per attempt.
    if (!out_of_descriptors_) {
      log::warn("cannot accept connections", {{"socket", path_}, {"reason", std::strerror(number)}});
    }
    out_of_descriptors_ = true;
    watch_->pause();
    retry_ = loop_.after(kListenRetry, [this] { watch_->resume(); });
  }

  AsioLoop& loop_;
  std::shared_ptr<StreamHub> hub_;
  std::string path_;
  BoundSocket bound_;
  OnAccept on_accept_;
  std::unique_ptr<ReadableWatch> watch_;  // after the descriptor it watches
  std::unique_ptr<Timer> retry_;
  bool out_of_descriptors_ = false;
  Lifetime lifetime_;
};

}  // namespace

/// One attempt to connect, repeated while the listener's queue is full. `done` destroys it.
class UnixNetwork::Connecting {
 public:
  Connecting(AsioLoop& loop, std::string path, std::move_only_function<void(Result<UniqueFd>)> done)
      : loop_{loop},
        path_{std::move(path)},
        done_{std::move(done)},
        timer_{loop.after(Millis{0}, [this] { attempt(); })} {}

 private:
  void attempt() {
    auto fd = connect_now(path_);
    const bool queue_is_full = fd.has_value() && !*fd;
    if (queue_is_full && ++attempts_ < kConnectAttempts) {
      timer_ = loop_.after(kConnectRetry, [this] { attempt(); });
      return;
    }
    if (queue_is_full) fd = fail_errno(format("cannot reach the daemon at {}: it does not answer", path_), EAGAIN);
    auto done = std::move(done_);  // `done` destroys this object
    done(std::move(fd));
  }

  AsioLoop& loop_;
  std::string path_;
  std::move_only_function<void(Result<UniqueFd>)> done_;
  std::unique_ptr<Timer> timer_;
  int attempts_ = 0;
};

UnixNetwork::UnixNetwork(AsioLoop& loop) : loop_{loop}, hub_{make_stream_hub(loop)} {}
UnixNetwork::~UnixNetwork() = default;

Result<std::unique_ptr<Listener>> UnixNetwork::listen(const std::string& path, OnAccept on_accept) {
  auto bound = RELAY_TRY(bind_and_listen(path));
  return std::make_unique<UnixListener>(loop_, hub_, path, std::move(bound), std::move(on_accept));
}

void UnixNetwork::connect(const std::string& path, OnConnect on_connect) {
  const std::uint64_t id = ++last_attempt_;
  auto done = [this, id, hub = hub_, on_connect = std::move(on_connect)](Result<UniqueFd> fd) mutable {
    connecting_.erase(id);
    if (!fd) return on_connect(Failure{std::move(fd).error()});
    const auto peer = peer_of(fd->get());
    if (!peer) return on_connect(Failure{peer.error()});
    on_connect(make_unix_stream(hub, *std::move(fd), *peer));
  };
  connecting_.emplace(id, std::make_unique<Connecting>(loop_, path, std::move(done)));
}

}  // namespace relay::net
