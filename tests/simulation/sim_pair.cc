#include "tests/simulation/sim_pair.h"

#include <algorithm>
#include <utility>

namespace relay::simulation {
namespace {

constexpr Nanos kDrainTime = milliseconds{1'000};
constexpr std::size_t kMaxRepeatableFrames = 8;
constexpr std::size_t kSlowReadBytes = 200;
constexpr Nanos kSlowReadDelay = milliseconds{400};
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
      socket_bytes_{network.faults_.min_socket_bytes + network.random_.below(3 * network.faults_.min_socket_bytes + 1)},
      slow_reader_{chance(network.faults_.slow_reader)} {}

std::unique_ptr<net::Stream> Pair::end(std::size_t side) {
  return std::make_unique<EndStream>(shared_from_this(), side);
}

bool Pair::chance(std::size_t in_thousand) { return in_thousand > 0 && network_.random_.below(1000) < in_thousand; }

void Pair::start(std::size_t side, net::StreamListener& listener) {
  ends_[side].listener = &listener;
  schedule_arrival(1 - side);
}

void Pair::write(std::size_t side, std::string_view bytes) {
  if (ends_[side].closed || ends_[side].draining || broken_) return;
  if (side == kServer && *server_dead_) return;
  wires_[side].queued.append(bytes);
  if (side == kServer) network_.max_waiting_ = std::max(network_.max_waiting_, wires_[side].queued.size());
  if (side == kClient) maybe_repeat(bytes);
  schedule_flush(side);
}

void Pair::maybe_repeat(std::string_view frame) {
  if (network_.faults_.repeat == 0) return;
  if (frame.find("\"type\":\"SEND\"") == frame.npos && frame.find("\"type\":\"ACK\"") == frame.npos) return;
  said_.emplace_back(frame);
  if (said_.size() > kMaxRepeatableFrames) said_.pop_front();
  if (!chance(network_.faults_.repeat)) return;
  // The client's code writes whole frames, so a client could have sent one of them twice.
  const auto& again = said_[network_.random_.below(said_.size())];
  network_.trace_.line("net {}: the client repeats a frame", number_);
  wires_[kClient].queued.append(again);
}

void Pair::set_paused(std::size_t side, bool paused) {
  ends_[side].paused = paused;
  if (!paused) schedule_arrival(1 - side);
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
    return schedule_flush(side);
  }
  end.closed = true;
  wires_[side].queued.clear();
  wires_[side].closed = true;
  schedule_arrival(side);
}

void Pair::schedule_flush(std::size_t from) {
  if (std::exchange(wires_[from].flush_due, true)) return;
  network_.loop_.post([self = shared_from_this(), from] { self->flush(from); });
}

void Pair::flush(std::size_t from) {
  auto& wire = wires_[from];
  wire.flush_due = false;
  if (frozen_ || broken_ || (from == kServer && *server_dead_)) return;
  if (ends_[1 - from].closed) wire.queued.clear();  // the peer reads no more
  const auto room = socket_bytes_ - std::min(socket_bytes_, wire.held.size());
  const auto count = std::min(room, wire.queued.size());
  if (count > 0) {
    wire.held.append(wire.queued, 0, count);
    wire.queued.erase(0, count);
    schedule_arrival(from);
  }
  auto& end = ends_[from];
  if (end.draining && wire.queued.empty()) {
    end.draining = false;
    return close(from, net::Drain::No);
  }
  if (count > 0 && end.listener != nullptr) end.listener->on_written(wire.queued.size());
}

void Pair::schedule_arrival(std::size_t from) {
  auto& wire = wires_[from];
  const auto& to = ends_[1 - from];
  if (wire.arrival_due || frozen_ || to.listener == nullptr || to.paused || (wire.held.empty() && !wire.closed)) return;
  wire.arrival_due = true;
  const auto span = static_cast<std::uint64_t>(network_.faults_.max_delay.count()) + 1;
  auto delay = Nanos{network_.random_.below(span)};
  if (slow_reader_ && from == kServer) delay += kSlowReadDelay;
  network_.loop_.call_after(delay, [self = shared_from_this(), from] { self->arrive(from); });
}

void Pair::arrive(std::size_t from) {
  auto& wire = wires_[from];
  auto& to = ends_[1 - from];
  wire.arrival_due = false;
  if (frozen_ || to.listener == nullptr || to.paused) return;
  if (1 - from == kServer && *server_dead_) return;
  if (!broken_ && chance(network_.faults_.cut)) return cut();
  if (!broken_ && chance(network_.faults_.freeze))
    return freeze(Nanos{network_.random_.below(static_cast<std::uint64_t>(kMaxFreeze.count()))});
  if (wire.held.empty()) {
    to.closed = true;
    wires_[1 - from].queued.clear();
    network_.trace_.line("net {}: {} gets the end of the stream", number_, from == kServer ? "client" : "daemon");
    return std::exchange(to.listener, nullptr)->on_closed("the peer closed the connection");
  }
  auto count = wire.held.size();
  if (network_.random_.below(3) == 0) count = 1 + network_.random_.below(count);
  if (slow_reader_ && from == kServer) count = std::min(count, kSlowReadBytes);
  const auto piece = wire.held.substr(0, count);
  wire.held.erase(0, count);
  to.listener->on_bytes(piece);
  schedule_flush(from);
  schedule_arrival(from);
}

void Pair::cut() {
  if (broken_) return;
  broken_ = true;
  network_.trace_.line("net {}: cut", number_);
  for (std::size_t side = 0; side < 2; ++side) {
    auto& wire = wires_[side];
    wire.queued.clear();
    wire.held.resize(network_.random_.below(wire.held.size() + 1));  // some of it had arrived
    wire.closed = true;
  }
  thaw();
  schedule_arrival(kClient);
  schedule_arrival(kServer);
}

void Pair::freeze(Nanos span) {
  frozen_ = true;
  network_.trace_.line("net {}: silent for {} ms", number_, std::chrono::duration_cast<milliseconds>(span).count());
  network_.loop_.call_after(span, [self = shared_from_this()] { self->thaw(); });
}

void Pair::thaw() {
  if (!std::exchange(frozen_, false)) return;
  for (std::size_t side = 0; side < 2; ++side) {
    schedule_flush(side);
    schedule_arrival(side);
  }
}

void Pair::recover() {
  slow_reader_ = false;
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
  wire.closed = true;
  schedule_arrival(kServer);
}

}  // namespace relay::simulation
