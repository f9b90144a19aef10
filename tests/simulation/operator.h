/// A person at a command line: a connection of its own that flushes, pauses, cancels, redelivers and sets policies.
///
/// What it asks for may be lost with the connection or the daemon; it then asks for something else. A healed world's
/// person undoes everything that keeps mail waiting, again and again until it is gone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/link.h"
#include "tests/simulation/fault_plan.h"
#include "tests/simulation/history_checker.h"

namespace relay::simulation {

class Operator final : private client::LinkListener {
 public:
  Operator(VirtualLoop& loop, net::Network& network, Random& random, Trace& trace, HistoryChecker& ledger);
  ~Operator() override;

  void start() { link_.start(); }
  /// One thing, drawn from the seed.
  void act(const std::vector<std::string>& agents);
  /// Whatever waits for a person's word goes.
  void let_go(const std::vector<std::string>& agents);

 private:
  void ask(const std::string& request);
  /// Only where the disk was damaged.
  void ask_status();

  void on_ready(const client::Session&) override { ask_status(); }
  void on_lost(const std::string&, Millis) override {}
  void on_stopped(const Error& why) override { ledger_.violate("the person was stopped: " + why.message()); }
  client::AckMode on_incoming(const client::IncomingMessage&) override { return client::AckMode::Now; }
  void on_sent(const std::string&) override {}
  void on_refused(const std::string&, const protocol::Nack&) override {}
  void on_frame(const protocol::Envelope&) override {}

  Random& random_;
  Trace& trace_;
  HistoryChecker& ledger_;
  client::Outbox outbox_;
  client::Link link_;
};

}  // namespace relay::simulation
