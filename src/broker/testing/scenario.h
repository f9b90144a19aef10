/// One message in one situation: whom it is for, how that one stands, when it should come, and what goes wrong.
///
/// The session is played: it answers every DELIVER as a session of its kind does, and the fault strikes at the first one
/// (a host's own moment is tested in src/host). What happens is kept as a trail of short words, in order: the lines of
/// the ledger, the hand-overs between them, and what had to happen before it went on. `docs/delivery-table.md` explains
/// the words.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "broker/testing/broker_fixture.h"

namespace relay::broker::testing {

enum class Kind : std::uint8_t { Pty, Native, Callback, Pull, Published };
enum class Standing : std::uint8_t { Offline, Idle, Working, Blocked, Paused };
enum class Fault : std::uint8_t {
  None,
  Away,         // the session goes away once it has it, and comes back
  Restart,      // the daemon dies once the session has it, or at once when it has to wait
  FailsOnce,    // the session fails with it, and may try again
  Fails,        // the session fails with it for good
  FailsAlways,  // and again, and again
  InDoubt,      // a session with a queue goes away after writing, and cannot tell what became of it
  Expires,      // its time is over before more happens than that the session takes it
  Held,         // the recipient's policy holds it
  Refused,      // the recipient's policy refuses it
  NotStored,    // the store fails as it is sent
  NotRecorded,  // the store fails as the session answers
};

struct Case {
  Kind kind{};
  Standing standing{};
  protocol::DeliveryMode mode{};
  Fault fault{};
};

struct Outcome {
  std::vector<std::string> trail;
  std::vector<std::string> told;    // the sender: `ACK`, `ACK queued`, `NACK REFUSED`, `delivered/seen`, …
  std::vector<std::string> errors;  // what must never happen, and did
};

inline bool has_queue(Kind kind) { return kind == Kind::Pty || kind == Kind::Native || kind == Kind::Pull; }

class Scenario {
 public:
  explicit Scenario(const Case& situation) : case_{situation} {}
  Outcome run();

 private:
  void set_up();
  void send();
  void come_back();
  void report_standing();
  void strike_with_restart();
  bool release_once();
  void listen();
  void handed(const Frame& deliver);
  void answer_with(const std::string& members);
  void play();
  void note();
  void mark(std::string word) {
    note();
    outcome_.trail.push_back(std::move(word));
  }
  records::TraceEntry entry() { return ledger(world_, "message-1"); }
  bool ended() { return noted_ > 0 && records::is_final(entry().delivery.state); }

  Case case_;
  BrokerFixture world_{BrokerLimits{.heartbeat_ms = 1'000'000'000}};
  ConnectionId alice_, bob_, person_;
  std::string token_;
  std::string delivery_;                                                 // its id, once it was handed over
  std::set<std::tuple<std::string, std::int64_t, std::uint64_t>> seen_;  // id, lane and number, on this connection
  std::size_t noted_ = 0;                                                // lines of the ledger
  bool here_ = true, accepted_ = false, working_ = false, struck_ = false;
  std::size_t failures_ = 0;
  Outcome outcome_;
};

}  // namespace relay::broker::testing
