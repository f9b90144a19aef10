/// The alarm: nothing may sit eligible and untouched.
///
/// At a moment when the daemon waits for nothing (no commit, page or question under way, the store working) every
/// delivery that is not final must have a next step: it is in its session's hands, or its session is away, or its lane is
/// closed for a reason that holds, or it is held and its time has not come, or it is behind others of a full window.
/// Whether a lane is open is derived here from what the sessions said, not asked of the broker.
///
/// What the daemon has heard of a session is read from its roster: each SESSION_STATE carries its number as `reason`; the
/// state in a greeting carries none, and must be one that was told since.
/// Ownership: borrows the book. Threading: one thread.
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

/// What a session said of itself at HELLO.
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
  Key newest = {};               // stored when it was said: what is here at that moment, at least
  std::uint64_t connection = 0;  // on which it was said, counted by the program
};

class LivenessChecker {
 public:
  explicit LivenessChecker(const DeliveryModel& book) : book_{book} {}

  // What happens.
  void knows(const std::string& program, const Able& able) { sessions_[program].able = able; }
  void session_of(const std::string& program, std::string session) {
    sessions_[program].own = std::move(session);
    ++sessions_[program].connections;
  }
  /// What it had in hand when its connection broke: the next one counts it until it was sent again.
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

  /// The delivery that has no next step, in words.
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
