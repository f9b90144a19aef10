/// A client that breaks one rule of the protocol, which must affect no other client.
#pragma once

#include <memory>
#include <string>

#include "base/lifetime.h"
#include "base/random.h"
#include "net/stream.h"
#include "tests/simulation/history_checker.h"

namespace relay::simulation {

class BadClient final : private net::StreamListener {
 public:
  /// `claimed` is the name of a program that claimed it, `unclaimed` one that did not (may be empty).
  BadClient(net::Network& network, Random& random, Trace& trace, HistoryChecker& checker, std::string claimed,
            std::string unclaimed);

  /// Connects under a new name and leaves.
  void visit() {
    fault_ = Fault::Leaves;
    start();
  }
  void start();

 private:
  enum class Fault {
    Garbage,
    HugeHeader,
    HalfAFrame,
    NotAnObject,
    BadUtf8,
    Nested,
    UnknownType,
    SendBeforeHello,
    ForgedSender,
    BadName,
    StealsClaimedName,
    StealsName,
    FloodsAndNeverReads,
    AcknowledgesOthersDeliveries,
    Leaves,
    Last,
  };

  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_closed(const std::string&) override { stream_.reset(); }
  void act();
  void frame(std::string_view json);
  void hello(std::string_view name);

  net::Network& network_;
  Random& random_;
  Trace& trace_;
  HistoryChecker& checker_;
  std::string claimed_;
  std::string unclaimed_;
  Fault fault_;
  std::string received_;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

}  // namespace relay::simulation
