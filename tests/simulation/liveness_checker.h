/// Checks liveness: every delivery that can be sent is sent.
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
struct SessionCapabilities {
  std::optional<protocol::DeliveryModes> modes = {};
  bool queue = false;
  std::uint32_t window = 0;
};

/// One SESSION_STATE.
struct SessionReport {
  std::string state;
  std::optional<protocol::DeliveryModes> modes = {};
  std::optional<protocol::DeliveryMode> boundary = {};
  Key newest = {};               // the newest stored key when it was sent
  std::uint64_t connection = 0;  // the connection that carried it, counted by the client
};

class LivenessChecker {
 public:
  explicit LivenessChecker(const DeliveryModel& model) : model_{model} {}

  // Reports of the simulation.
  void add_client(const std::string& client, const SessionCapabilities& capabilities) {
    sessions_[client].capabilities = capabilities;
  }
  void set_session(const std::string& client, std::string session) {
    sessions_[client].own = std::move(session);
    ++sessions_[client].connections;
  }
  /// Its unsettled deliveries when the connection broke: the next connection counts them until they are resent.
  void set_unsettled(const std::string& client, std::set<Key> deliveries) {
    sessions_[client].unsettled = std::move(deliveries);
  }
  /// Returns the number of the report.
  std::uint64_t on_session_report(const std::string& client, SessionReport report);
  void daemon_started(Timestamp now);
  void on_clock_jump(Timestamp before) { set_by_.push_back(before); }
  void on_session_opened(const records::Session& session) { agent_of_[session.id.value()] = session.agent.value(); }
  void on_welcome(std::string_view session, broker::ConnectionId connection);
  void sent(Key delivery, broker::ConnectionId connection, Seq seq);
  void on_agent_stored(const records::Agent& agent) { paused_[agent.name.value()] = agent.paused; }

  /// Describes a delivery without a next step.
  [[nodiscard]] std::optional<std::string> find_stuck(const std::vector<broker::RosterEntry>& roster,
                                                      Timestamp now) const;

 private:
  struct Session {
    SessionCapabilities capabilities;
    std::string own;      // of the client itself
    std::string current;  // as the daemon has it: perhaps of another client
    broker::ConnectionId connection;
    std::uint64_t connections = 0;  // of the client, so far
    std::vector<SessionReport> reports = {};
    std::set<Key> unsettled = {};
  };
  struct Sent {
    broker::ConnectionId connection;
    Seq seq;
  };
  /// The reports that the daemon has received on this connection, up to a number.
  struct KnownState {
    std::string state;
    std::optional<protocol::DeliveryModes> modes;
    std::map<protocol::DeliveryMode, Key> boundaries;
  };
  [[nodiscard]] static bool reported_since(const Session& session, std::size_t count, std::string_view state);
  [[nodiscard]] static KnownState known_state(const Session& session, std::size_t count);
  [[nodiscard]] bool is_open(const Session& session, const KnownState& known, const records::Delivery& delivery) const;
  [[nodiscard]] bool in_flight(const Session& session, const records::Delivery& delivery) const;

  const DeliveryModel& model_;
  std::map<std::string, Session> sessions_;      // by client
  std::map<std::string, std::string> agent_of_;  // by session
  std::map<std::string, bool> paused_;
  std::map<Key, Sent> flight_;
  std::vector<Timestamp>
      set_by_;  // when the daemon's timers were set: at its start and just before each jump of the clock
};

}  // namespace relay::simulation
