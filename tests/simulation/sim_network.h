/// Sockets on a virtual clock: bytes arrive late, in pieces, or not at all.
///
/// Each direction has the sender's queue and the socket's buffer (bounded, so a slow reader blocks the sender as on a
/// real machine). A cut loses bytes in flight; a frozen connection transfers nothing; the end of a process closes its
/// sockets.
/// Invariants: the order of bytes within one direction never changes; otherwise the contract of net::Stream.
/// Ownership: borrows loop, random and fault plan. Threading: one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "net/stream.h"
#include "tests/simulation/fault_plan.h"
#include "tests/simulation/trace.h"

namespace relay::simulation {

class Pair;

/// Set when a process dies: from then on nothing it does has an effect.
using DeathFlag = std::shared_ptr<bool>;

class SimNetwork final : public net::Network {
 public:
  SimNetwork(VirtualLoop& loop, Random& random, const FaultPlan& faults, Trace& trace)
      : loop_{loop}, random_{random}, faults_{faults}, trace_{trace} {}

  /// Listens as a process of its own, which ends by destroying listener and streams.
  Result<std::unique_ptr<net::Listener>> listen(const std::string& path, net::OnAccept on_accept) override;
  /// Listens as the server process.
  std::unique_ptr<net::Listener> listen_as_server(const std::string& path, net::OnAccept on_accept);
  void connect(const std::string& path, net::OnConnect on_connect) override;

  /// Listeners of the server and their streams made from now on die with this flag.
  void set_server_process(DeathFlag dead) { server_dead_ = std::move(dead); }
  /// The process of these streams has died: sockets close, and their buffered bytes may still arrive.
  void server_died();

  /// Breaks a random open connection.
  void cut_one();
  /// Ends all freezes and slow readers.
  void recover();

  /// Most bytes any server-side stream has had waiting.
  [[nodiscard]] std::size_t max_waiting() const { return max_waiting_; }
  /// Has none of them so many bytes waiting now, and is none of them breaking?
  [[nodiscard]] bool flows_freely(std::size_t bytes) const;

 private:
  friend class Pair;
  class SimListener;

  VirtualLoop& loop_;
  Random& random_;
  const FaultPlan& faults_;
  Trace& trace_;
  std::map<std::string, SimListener*> listeners_;
  std::vector<std::weak_ptr<Pair>> pairs_;
  DeathFlag server_dead_ = std::make_shared<bool>(false);
  std::size_t max_waiting_ = 0;
  std::uint64_t next_pair_ = 1;
};

}  // namespace relay::simulation
