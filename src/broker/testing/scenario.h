/// One message in one situation: the type and state of its recipient, its mode, and a fault.
///
/// The recipient is simulated: it answers every DELIVER as a session of its type does, and the fault happens at the first
/// one (the timing of a host is tested in src/host). The result is a trail of short signs, in order: the entries of the
/// history, each DELIVER, and what had to happen before the next. `docs/delivery-table.md` explains the signs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "broker/testing/sessions.h"

namespace relay::broker::testing {

enum class SessionType : std::uint8_t { Pty, Native, Callback, Pull, Published };
enum class RecipientState : std::uint8_t { Offline, Idle, Working, Blocked, Paused };
enum class Fault : std::uint8_t {
  None,
  Disconnect,   // the session disconnects after DELIVER, and reconnects
  Restart,      // the daemon dies after DELIVER, or at once if the delivery is pending
  FailsOnce,    // the session reports a retryable failure
  Fails,        // the session reports a final failure
  FailsAlways,  // every try fails
  InDoubt,      // a session with a queue disconnects after writing and does not know the outcome
  Expires,      // it expires after the session accepted it
  Held,         // the recipient's policy holds it
  Refused,      // the recipient's policy refuses it
  NotStored,    // the commit of the SEND fails
  NotRecorded,  // the commit of the receipt fails
};

struct DeliveryCase {
  SessionType session{};
  RecipientState state{};
  protocol::DeliveryMode mode{};
  Fault fault{};
};

struct ScenarioResult {
  Strings trail;
  Strings responses;  // to the sender: `ACK`, `ACK queued`, `NACK REFUSED`, `delivered/seen`, …
  Strings errors;     // violated invariants
};

inline bool has_queue(SessionType type) {
  return type == SessionType::Pty || type == SessionType::Native || type == SessionType::Pull;
}

class Scenario {
 public:
  explicit Scenario(const DeliveryCase& situation) : case_{situation} {}
  ScenarioResult run();

 private:
  void set_up();
  void send();
  void reconnect();
  void report_recipient_state();
  void restart_daemon();
  /// Does what the delivery needs before it can continue; false if it needs nothing.
  bool release_once();
  void process_frames();
  void on_deliver(const Frame& deliver);
  void send_receipt(const std::string& members);
  /// Sends all receipts of a session of this type.
  void finish_delivery();
  /// Appends new entries of the history and new responses to the outcome.
  void record();
  void mark(std::string sign) {
    record();
    result_.trail.push_back(std::move(sign));
  }
  records::TraceEntry entry() { return trace_entry(fixture_, "message-1"); }
  bool ended() { return recorded_ > 0 && records::is_final(entry().delivery.state); }

  DeliveryCase case_;
  BrokerFixture fixture_{BrokerLimits{.heartbeat_ms = 1'000'000'000}};
  ConnectionId alice_, bob_, user_;
  std::string token_;
  std::string delivery_;                                                 // the delivery id of the first DELIVER
  std::set<std::tuple<std::string, std::int64_t, std::uint64_t>> seen_;  // id, lane and number, on this connection
  std::size_t recorded_ = 0;                                             // entries of the history
  bool connected_ = true, accepted_ = false, working_ = false, fault_done_ = false;
  std::size_t failures_ = 0;
  ScenarioResult result_;
};

}  // namespace relay::broker::testing
