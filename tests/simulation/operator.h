/// The user at a command line: a separate connection that flushes, pauses, cancels, redelivers and sets policies.
///
/// A request may be lost with the connection or the daemon; the operator then makes another one. At the end of a run
/// the operator repeatedly undoes everything that keeps messages pending, until nothing is pending.
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
  Operator(VirtualLoop& loop, net::Network& network, Random& random, Trace& trace, HistoryChecker& checker);
  ~Operator() override;

  void start() { link_.start(); }
  /// One random request.
  void act(const std::vector<std::string>& agents);
  void pause(const std::string& agent);
  void unpause(const std::string& agent);
  /// Cancels a random delivery that is not final.
  void cancel();
  /// Releases every held delivery.
  void release_all(const std::vector<std::string>& agents);

 private:
  void request(const std::string& request);
  /// Only after damage to the disk.
  void request_status();

  void on_ready(const client::Session&) override { request_status(); }
  void on_lost(const std::string&, Millis) override {}
  void on_stopped(const Error& why) override { checker_.violate("the operator was stopped: " + why.message()); }
  client::AckMode on_incoming(const client::IncomingMessage&) override { return client::AckMode::Now; }
  void on_sent(const std::string&) override {}
  void on_refused(const std::string&, const protocol::Nack&) override {}
  void on_frame(const protocol::Envelope&) override {}

  Random& random_;
  Trace& trace_;
  HistoryChecker& checker_;
  client::Outbox outbox_;
  client::Link link_;
};

}  // namespace relay::simulation
