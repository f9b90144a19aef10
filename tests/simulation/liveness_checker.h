/// Checks liveness: no delivery that could go may stay untouched.
///
/// Whenever the daemon has nothing to do (no commit, page or query in progress, the store working), every pending
/// delivery must have a next step: it is at its session, or its session is offline, or its lane is closed for a valid
/// reason, or it is held and its time has not come, or it is behind others of a full window.
/// The checker derives whether a lane is open from the reports of sessions; it does not ask the broker.
///
/// The roster shows which reports the daemon has received: each SESSION_STATE carries its number as `reason`; the state
/// in a HELLO carries none, and must be one that the session reported since.
/// Ownership: borrows the model. Threading: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/broker.h"
#include "tests/simulation/delivery_model.h"

namespace relay::simulation {

/// The content of a session's HELLO.
struct Able {
  std::optional<protocol::DeliveryModes> modes = {};
  bool queue = false;
  std::uint32_t window = 0;
};

/// One SESSION_STATE.
struct Told {
  std::string state;
  std::optional<protocol::DeliveryModes> modes = {};
  std::optional<protocol::DeliveryMode> boundary = {};
  Key newest = {};               // the newest stored key when it was sent
  std::uint64_t connection = 0;  // the connection that carried it, counted by the client
};

class LivenessChecker {
 public:
  explicit LivenessChecker(const DeliveryModel& book) : book_{book} {}

  // Reports of the simulation.
  void knows(const std::string& program, const Able& able) { sessions_[program].able = able; }
  void session_of(const std::string& program, std::string session) {
    sessions_[program].own = std::move(session);
    ++sessions_[program].connections;
  }
  /// Its unsettled deliveries when the connection broke: the next connection counts them until they are resent.
  void had_unsettled(const std::string& program, std::set<Key> deliveries) {
    sessions_[program].kept = std::move(deliveries);
  }
  /// The number under which the daemon hears it.
  std::uint64_t tells(const std::string& program, Told told);
  void daemon_started(Timestamp now);
  void clock_jumps(Timestamp before) { set_by_.push_back(before); }
  void session_opens(const records::Session& session) { agent_of_[session.id.value()] = session.agent.value(); }
  void welcomed(std::string_view session, broker::ConnectionId connection);
  void sent(Key delivery, broker::ConnectionId connection, Seq seq);
  void agent_saved(const records::Agent& agent) { paused_[agent.name.value()] = agent.paused; }

  /// Describes a delivery without a next step.
  [[nodiscard]] std::optional<std::string> look(const std::vector<broker::RosterEntry>& roster, Timestamp now) const;

 private:
  struct Session {
    Able able;
    std::string own;      // of the program itself
    std::string current;  // as the daemon has it: perhaps somebody else's
    broker::ConnectionId connection;
    std::uint64_t connections = 0;  // of the program, so far
    std::vector<Told> told = {};
    std::set<Key> kept = {};
  };
  struct Sent {
    broker::ConnectionId connection;
    Seq seq;
  };
  /// What the daemon has heard of it on this connection, up to a number: at least that, and later words count.
  struct Heard {
    std::string state;
    std::optional<protocol::DeliveryModes> modes;
    std::map<protocol::DeliveryMode, Key> boundaries;
  };
  [[nodiscard]] static bool said_since(const Session& session, std::size_t count, std::string_view state);
  [[nodiscard]] static Heard heard(const Session& session, std::size_t count);
  [[nodiscard]] bool is_open(const Session& session, const Heard& heard, const records::Delivery& delivery) const;
  [[nodiscard]] bool in_flight(const Session& session, const records::Delivery& delivery) const;

  const DeliveryModel& book_;
  std::map<std::string, Session> sessions_;      // by program
  std::map<std::string, std::string> agent_of_;  // by session
  std::map<std::string, bool> paused_;
  std::map<Key, Sent> flight_;
  std::vector<Timestamp>
      set_by_;  // when the daemon's timers were set: its start, and just before each jump of the clock
};

}  // namespace relay::simulation
