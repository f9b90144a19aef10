#include "tests/simulation/sim_pair.h"

#include <algorithm>
#include <utility>

namespace relay::simulation {
namespace {

constexpr Nanos kDrainTime = milliseconds{1'000};
constexpr std::size_t kRememberedFrames = 8;
constexpr std::size_t kDripBytes = 200;
constexpr Nanos kDripDelay = milliseconds{400};
constexpr Nanos kMaxFreeze = milliseconds{25'000};

class EndStream final : public net::Stream {
 public:
  EndStream(std::shared_ptr<Pair> pair, std::size_t side) : pair_{std::move(pair)}, side_{side} {}
  ~EndStream() override { pair_->close(side_, net::Drain::No); }
  EndStream(const EndStream&) = delete;
  EndStream& operator=(const EndStream&) = delete;

  void start(net::StreamListener& listener) override { pair_->start(side_, listener); }
  void write(std::string_view bytes) override { pair_->write(side_, bytes); }
  [[nodiscard]] std::size_t bytes_waiting() const override { return pair_->waiting(side_); }
  void pause_reading() override { pair_->set_paused(side_, true); }
  void resume_reading() override { pair_->set_paused(side_, false); }
  void close(net::Drain drain) override { pair_->close(side_, drain); }
  [[nodiscard]] net::Peer peer() const override { return {1000, 1000, 4242}; }

 private:
  std::shared_ptr<Pair> pair_;
  std::size_t side_;
};

}  // namespace

Pair::Pair(SimNetwork& network, DeathFlag server_dead, std::uint64_t number)
    : network_{network},
      server_dead_{std::move(server_dead)},
      number_{number},
      socket_bytes_{network.weather_.smallest_socket + network.random_.below(3 * network.weather_.smallest_socket + 1)},
      drips_{chance(network.weather_.slow_reader)} {}

std::unique_ptr<net::Stream> Pair::end(std::size_t side) {
  return std::make_unique<EndStream>(shared_from_this(), side);
}

bool Pair::chance(std::size_t in_thousand) { return in_thousand > 0 && network_.random_.below(1000) < in_thousand; }

void Pair::start(std::size_t side, net::StreamListener& listener) {
  ends_[side].listener = &listener;
  want_arrival(1 - side);
}

void Pair::write(std::size_t side, std::string_view bytes) {
  if (ends_[side].closed || ends_[side].draining || broken_) return;
  if (side == kServer && *server_dead_) return;
  wires_[side].queued.append(bytes);
  if (side == kServer) network_.most_waiting_ = std::max(network_.most_waiting_, wires_[side].queued.size());
  if (side == kClient) maybe_repeat(bytes);
  want_flush(side);
}

void Pair::maybe_repeat(std::string_view frame) {
  if (network_.weather_.repeat == 0) return;
  if (frame.find("\"type\":\"SEND\"") == frame.npos && frame.find("\"type\":\"ACK\"") == frame.npos) return;
  said_.emplace_back(frame);
  if (said_.size() > kRememberedFrames) said_.pop_front();
  if (!chance(network_.weather_.repeat)) return;
  // The client's code writes whole frames, so a whole frame more is something a client could have said.
  const auto& again = said_[network_.random_.below(said_.size())];
  network_.trace_.line("net {}: the client repeats a frame", number_);
  wires_[kClient].queued.append(again);
}

void Pair::set_paused(std::size_t side, bool paused) {
  ends_[side].paused = paused;
  if (!paused) want_arrival(1 - side);
}

void Pair::close(std::size_t side, net::Drain drain) {
  auto& end = ends_[side];
  end.listener = nullptr;
  if (end.closed || end.draining) return;
  if (drain == net::Drain::Yes && !wires_[side].queued.empty() && !broken_ && !(side == kServer && *server_dead_)) {
    end.draining = true;
    network_.loop_.call_after(kDrainTime, [self = shared_from_this(), side] {
      if (!self->ends_[side].draining) return;
      self->ends_[side].draining = false;
      self->close(side, net::Drain::No);
    });
    return want_flush(side);
  }
  end.closed = true;
  wires_[side].queued.clear();
  wires_[side].over = true;
  want_arrival(side);
}

void Pair::want_flush(std::size_t from) {
  if (std::exchange(wires_[from].flush_due, true)) return;
  network_.loop_.post([self = shared_from_this(), from] { self->flush(from); });
}

void Pair::flush(std::size_t from) {
  auto& wire = wires_[from];
  wire.flush_due = false;
  if (frozen_ || broken_ || (from == kServer && *server_dead_)) return;
  if (ends_[1 - from].closed) wire.queued.clear();  // nobody reads any more
  const auto room = socket_bytes_ - std::min(socket_bytes_, wire.held.size());
  const auto count = std::min(room, wire.queued.size());
  if (count > 0) {
    wire.held.append(wire.queued, 0, count);
    wire.queued.erase(0, count);
    want_arrival(from);
  }
  auto& end = ends_[from];
  if (end.draining && wire.queued.empty()) {
    end.draining = false;
    return close(from, net::Drain::No);
  }
  if (count > 0 && end.listener != nullptr) end.listener->on_written(wire.queued.size());
}

void Pair::want_arrival(std::size_t from) {
  auto& wire = wires_[from];
  const auto& to = ends_[1 - from];
  if (wire.arrival_due || frozen_ || to.listener == nullptr || to.paused || (wire.held.empty() && !wire.over)) return;
  wire.arrival_due = true;
  const auto span = static_cast<std::uint64_t>(network_.weather_.longest_delay.count()) + 1;
  auto delay = Nanos{network_.random_.below(span)};
  if (drips_ && from == kServer) delay += kDripDelay;
  network_.loop_.call_after(delay, [self = shared_from_this(), from] { self->arrive(from); });
}

void Pair::arrive(std::size_t from) {
  auto& wire = wires_[from];
  auto& to = ends_[1 - from];
  wire.arrival_due = false;
  if (frozen_ || to.listener == nullptr || to.paused) return;
  if (1 - from == kServer && *server_dead_) return;
  if (!broken_ && chance(network_.weather_.cut)) return cut();
  if (!broken_ && chance(network_.weather_.freeze))
    return freeze(Nanos{network_.random_.below(static_cast<std::uint64_t>(kMaxFreeze.count()))});
  if (wire.held.empty()) {
    to.closed = true;
    wires_[1 - from].queued.clear();
    network_.trace_.line("net {}: {} hears the end", number_, from == kServer ? "client" : "daemon");
    return std::exchange(to.listener, nullptr)->on_closed("the peer closed the connection");
  }
  auto count = wire.held.size();
  if (network_.random_.below(3) == 0) count = 1 + network_.random_.below(count);
  if (drips_ && from == kServer) count = std::min(count, kDripBytes);
  const auto piece = wire.held.substr(0, count);
  wire.held.erase(0, count);
  to.listener->on_bytes(piece);
  want_flush(from);
  want_arrival(from);
}

void Pair::cut() {
  if (broken_) return;
  broken_ = true;
  network_.trace_.line("net {}: cut", number_);
  for (std::size_t side = 0; side < 2; ++side) {
    auto& wire = wires_[side];
    wire.queued.clear();
    wire.held.resize(network_.random_.below(wire.held.size() + 1));  // some of it had arrived
    wire.over = true;
  }
  thaw();
  want_arrival(kClient);
  want_arrival(kServer);
}

void Pair::freeze(Nanos span) {
  frozen_ = true;
  network_.trace_.line("net {}: silent for {} ms", number_, std::chrono::duration_cast<milliseconds>(span).count());
  network_.loop_.call_after(span, [self = shared_from_this()] { self->thaw(); });
}

void Pair::thaw() {
  if (!std::exchange(frozen_, false)) return;
  for (std::size_t side = 0; side < 2; ++side) {
    want_flush(side);
    want_arrival(side);
  }
}

void Pair::recover() {
  drips_ = false;
  thaw();
}

void Pair::server_died() {
  if (broken_) return;
  auto& end = ends_[kServer];
  end.listener = nullptr;
  end.closed = true;
  end.draining = false;
  auto& wire = wires_[kServer];
  wire.queued.clear();
  if (network_.random_.below(2) == 0) wire.held.resize(network_.random_.below(wire.held.size() + 1));
  wire.over = true;
  want_arrival(kServer);
}

}  // namespace relay::simulation
