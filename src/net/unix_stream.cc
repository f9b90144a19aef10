#include "net/unix_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <vector>

#include "net/asio_impl.h"

namespace relay::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kFirstReadBytes = 4 * 1024;       // per stream: most frames fit, and idle streams stay small
constexpr std::size_t kBulkReadBytes = 256 * 1024;      // shared: for what follows a full first read
constexpr std::size_t kMaxIdleWriteBytes = 4 * 1024;    // a drained write buffer larger than this is freed
constexpr std::size_t kSmallWriteBytes = 64;            // no more than the head of a frame
constexpr std::size_t kMinGrownWriteBytes = 16 * 1024;  // minimum size of an enlarged write buffer
constexpr std::size_t kCompactBytes = 64 * 1024;        // sent bytes at the front that justify moving the rest
constexpr Millis kLingerTime{100};                      // for a silent peer to close first, once all is sent

class Core;

}  // namespace

class StreamHub : public std::enable_shared_from_this<StreamHub> {
 public:
  StreamHub(AsioLoop& loop, Millis drain_time) : loop_{loop.impl()}, drain_time_{drain_time} {}

  asio::io_context& io() { return loop_.io; }
  [[nodiscard]] Millis drain_time() const { return drain_time_; }
  std::vector<char>& bulk() {
    bulk_.resize(kBulkReadBytes);
    return bulk_;
  }

  /// Schedules a flush of the stream; all dirty streams are flushed together, after the running task.
  void mark_dirty(std::weak_ptr<Core> stream);

 private:
  void flush_all();

  AsioLoop::Impl& loop_;
  Millis drain_time_;
  std::vector<char> bulk_;
  std::vector<std::weak_ptr<Core>> dirty_;  // weak: streams own their hub, and a cycle would leak both
};

namespace {

/// The socket and its buffers; lives as long as an operation is pending, longer than its handle when draining.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(std::shared_ptr<StreamHub> hub, UniqueFd fd, Peer peer)
      : hub_{std::move(hub)}, socket_{hub_->io(), asio::local::stream_protocol{}, fd.release()}, peer_{peer} {}

  void start(StreamListener& listener) {
    listener_ = &listener;
    read();
  }

  void write(std::string_view bytes) {
    if (phase_ != Phase::Open || write_broken_ || bytes.empty()) return;
    // A write that does not fit is unlikely to be the last: grow in large steps.
    if (out_.size() > kSmallWriteBytes && out_.capacity() - out_.size() < bytes.size())
      out_.reserve(std::max({2 * out_.capacity(), out_.size() + bytes.size(), kMinGrownWriteBytes}));
    out_.append(bytes);
    want_flush();
  }

  [[nodiscard]] std::size_t bytes_waiting() const { return out_.size() - sent_; }
  [[nodiscard]] Peer peer() const { return peer_; }

  void pause() { paused_ = true; }

  void resume() {
    if (!paused_) return;
    paused_ = false;
    if (phase_ != Phase::Open || listener_ == nullptr) return;
    if (!holding_) return read();
    asio::post(hub_->io(), [self = shared_from_this()] {
      if (self->phase_ != Phase::Open || self->paused_ || !self->holding_) return;
      self->holding_ = false;
      self->deliver(self->held_error_, self->held_bytes_);
    });
  }

  void close(Drain drain) {
    if (phase_ != Phase::Open) return;
    listener_ = nullptr;
    if (drain == Drain::No || write_broken_) return shut();
    phase_ = Phase::Draining;
    holding_ = false;
    give_up_at_ = std::chrono::steady_clock::now() + hub_->drain_time();
    deadline_ = std::make_unique<asio::steady_timer>(hub_->io());
    shut_at(give_up_at_);
    // Continues to read and discards: a peer that is blocked in a write would otherwise never read.
    read();
    if (bytes_waiting() == 0)
      finish_writing();
    else
      want_flush();
  }

  void flush() {
    dirty_ = false;
    if (phase_ == Phase::Closed || waiting_to_write_ || bytes_waiting() == 0) return;
    const ssize_t count =
        ::send(socket_.native_handle(), out_.data() + sent_, bytes_waiting(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return writing_failed();
    if (count > 0) drop_front(static_cast<std::size_t>(count));
    if (bytes_waiting() > 0)
      wait_to_write();
    else if (phase_ == Phase::Draining)
      return finish_writing();
    if (count > 0 && listener_ != nullptr) listener_->on_written(bytes_waiting());
  }

 private:
  enum class Phase : std::uint8_t { Open, Draining, Closed };

  void read() {
    if (reading_ || holding_ || phase_ == Phase::Closed) return;
    if (phase_ == Phase::Open && paused_) return;
    reading_ = true;
    socket_.async_read_some(asio::buffer(first_), [self = shared_from_this()](const error_code& error, std::size_t n) {
      self->reading_ = false;
      self->on_read(error, n);
    });
  }

  void on_read(const error_code& error, std::size_t bytes) {
    switch (phase_) {
      case Phase::Closed: return;
      case Phase::Draining:
        if (error) return shut();
        if (bytes == first_.size()) discard_more();
        if (bytes_waiting() == 0) linger();
        return read();
      case Phase::Open:
        if (paused_) {  // the read was in progress when the stream was paused
          holding_ = true;
          held_error_ = error;
          held_bytes_ = bytes;
          return;
        }
        return deliver(error, bytes);
    }
  }

  void deliver(const error_code& error, std::size_t bytes) {
    if (error) return fail(error);
    listener_->on_bytes({first_.data(), bytes});
    if (phase_ != Phase::Open || paused_) return;
    if (bytes == first_.size() && !deliver_bulk()) return;
    read();
  }

  /// A full first read means that more input is pending: reads it in one call. False when the stream is closed or
  /// paused.
  bool deliver_bulk() {
    auto& bulk = hub_->bulk();
    const ssize_t count = ::recv(socket_.native_handle(), bulk.data(), bulk.size(), MSG_DONTWAIT);
    if (count < 0) {
      if (errno == EAGAIN || errno == EINTR) return true;
      fail({errno, boost::system::system_category()});
      return false;
    }
    if (count == 0) {
      fail(asio::error::eof);
      return false;
    }
    listener_->on_bytes({bulk.data(), static_cast<std::size_t>(count)});
    return phase_ == Phase::Open && !paused_;
  }

  void discard_more() {
    auto& bulk = hub_->bulk();
    [[maybe_unused]] const ssize_t ignored =
        ::recv(socket_.native_handle(), bulk.data(), bulk.size(), MSG_DONTWAIT);  // the next read reports any error
  }

  void fail(const error_code& error) {
    StreamListener* listener = std::exchange(listener_, nullptr);
    shut();
    if (listener == nullptr) return;
    listener->on_closed(error == asio::error::eof ? "the peer closed the connection" : error.message());
  }

  void want_flush() {
    if (dirty_ || waiting_to_write_) return;
    dirty_ = true;
    hub_->mark_dirty(weak_from_this());
  }

  void wait_to_write() {
    waiting_to_write_ = true;
    socket_.async_wait(asio::local::stream_protocol::socket::wait_write,
                       [self = shared_from_this()](const error_code& error) {
                         self->waiting_to_write_ = false;
                         if (!error) self->flush();
                       });
  }

  void drop_front(std::size_t count) {
    sent_ += count;
    if (sent_ == out_.size()) {
      sent_ = 0;
      if (out_.capacity() > kMaxIdleWriteBytes)
        std::string{}.swap(out_);
      else
        out_.clear();
    } else if (sent_ >= kCompactBytes && sent_ * 2 >= out_.size()) {
      out_.erase(0, sent_);
      sent_ = 0;
    }
  }

  /// The peer no longer reads. Bytes it sent before may still be in transit, so only the reading side ends the stream.
  void writing_failed() {
    write_broken_ = true;
    sent_ = 0;
    std::string{}.swap(out_);
    if (phase_ == Phase::Draining) shut();
  }

  /// Everything is sent: shuts down our half, so the peer reads the end after the last byte and may finish its output.
  void finish_writing() {
    error_code ignored;
    socket_.shutdown(asio::local::stream_protocol::socket::shutdown_send, ignored);
    linger();
  }

  /// Closing while the peer writes would reset the connection, and the peer might never read the last bytes.
  void linger() { shut_at(std::min(give_up_at_, SteadyTime{std::chrono::steady_clock::now() + kLingerTime})); }

  void shut_at(SteadyTime when) {
    deadline_->expires_at(when);
    deadline_->async_wait([self = shared_from_this()](const error_code& error) {
      if (!error) self->shut();
    });
  }

  void shut() {
    if (phase_ == Phase::Closed) return;
    phase_ = Phase::Closed;
    deadline_.reset();
    error_code ignored;
    socket_.close(ignored);
    std::string{}.swap(out_);
    sent_ = 0;
  }

  std::shared_ptr<StreamHub> hub_;
  asio::local::stream_protocol::socket socket_;
  StreamListener* listener_ = nullptr;
  Peer peer_;
  Phase phase_ = Phase::Open;
  bool reading_ = false;
  bool paused_ = false;
  bool holding_ = false;  // a read completed while paused; resume delivers its result
  bool dirty_ = false;
  bool waiting_to_write_ = false;
  bool write_broken_ = false;
  error_code held_error_;
  std::size_t held_bytes_ = 0;
  std::string out_;
  std::size_t sent_ = 0;                          // bytes at the front of out_ that are already sent
  std::unique_ptr<asio::steady_timer> deadline_;  // of draining
  SteadyTime give_up_at_{};
  std::array<char, kFirstReadBytes> first_;
};

class UnixStream final : public Stream {
 public:
  explicit UnixStream(std::shared_ptr<Core> core) : core_{std::move(core)} {}
  ~UnixStream() override { core_->close(Drain::No); }
  UnixStream(const UnixStream&) = delete;
  UnixStream& operator=(const UnixStream&) = delete;

  void start(StreamListener& listener) override { core_->start(listener); }
  void write(std::string_view bytes) override { core_->write(bytes); }
  [[nodiscard]] std::size_t bytes_waiting() const override { return core_->bytes_waiting(); }
  void pause_reading() override { core_->pause(); }
  void resume_reading() override { core_->resume(); }
  void close(Drain drain) override { core_->close(drain); }
  [[nodiscard]] Peer peer() const override { return core_->peer(); }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace

void StreamHub::mark_dirty(std::weak_ptr<Core> stream) {
  dirty_.push_back(std::move(stream));
  if (dirty_.size() > 1) return;
  loop_.post_here([self = shared_from_this()] { self->flush_all(); });
}

void StreamHub::flush_all() {
  // Writes caused by a flush (on_written may write again) belong to the next turn.
  const auto batch = std::exchange(dirty_, {});
  for (const auto& weak : batch)
    if (const auto stream = weak.lock()) stream->flush();
}

std::shared_ptr<StreamHub> make_stream_hub(AsioLoop& loop, Millis drain_time) {
  return std::make_shared<StreamHub>(loop, drain_time);
}

std::unique_ptr<Stream> make_unix_stream(std::shared_ptr<StreamHub> hub, UniqueFd socket, Peer peer) {
  return std::make_unique<UnixStream>(std::make_shared<Core>(std::move(hub), std::move(socket), peer));
}

}  // namespace relay::net
