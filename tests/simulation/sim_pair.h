/// One connection of the simulated network: two ends, two directions.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>

#include "tests/simulation/sim_network.h"

namespace relay::simulation {

class Pair : public std::enable_shared_from_this<Pair> {
 public:
  static constexpr std::size_t kClient = 0;
  static constexpr std::size_t kServer = 1;

  Pair(SimNetwork& network, DeathFlag server_dead, std::uint64_t number);

  std::unique_ptr<net::Stream> end(std::size_t side);

  // What an end's stream does.
  void start(std::size_t side, net::StreamListener& listener);
  void write(std::size_t side, std::string_view bytes);
  void set_paused(std::size_t side, bool paused);
  void close(std::size_t side, net::Drain drain);
  [[nodiscard]] std::size_t waiting(std::size_t side) const { return wires_[side].queued.size(); }

  // Faults.
  void cut();
  void recover();
  void server_died();
  /// Its server end belongs to the process of that flag.
  [[nodiscard]] bool is_of(const DeathFlag& process) const { return server_dead_ == process; }
  /// It broke, and the server was not notified yet.
  [[nodiscard]] bool breaking() const { return broken_ && !ends_[kServer].closed; }
  [[nodiscard]] bool alive() const { return !broken_ && (!ends_[0].closed || !ends_[1].closed); }

 private:
  struct End {
    net::StreamListener* listener = nullptr;
    bool paused = false;
    bool closed = false;  // its owner closed it, or was notified of the end
    bool draining = false;
  };
  struct Wire {           // from one end to the other
    std::string queued;   // at the sender
    std::string held;     // in the socket
    bool closed = false;  // nothing more will be queued
    bool flush_due = false;
    bool arrival_due = false;
  };

  void schedule_flush(std::size_t from);
  void flush(std::size_t from);
  void schedule_arrival(std::size_t from);
  void arrive(std::size_t from);
  void maybe_repeat(std::string_view frame);
  void freeze(Nanos span);
  void thaw();
  [[nodiscard]] bool chance(std::size_t in_thousand);

  SimNetwork& network_;
  DeathFlag server_dead_;
  std::uint64_t number_;
  std::size_t socket_bytes_;
  bool slow_reader_;  // the client of this connection reads slowly
  bool frozen_ = false;
  bool broken_ = false;
  std::array<End, 2> ends_;
  std::array<Wire, 2> wires_;
  std::deque<std::string> said_;  // the client's latest SENDs and ACKs, to be repeated
};

}  // namespace relay::simulation
