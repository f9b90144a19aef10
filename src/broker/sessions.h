/// Sessions: HELLO, RESUME and BYE; which connection owns a name; start, resume and end of a session.
///
/// Invariants: an agent name has one live owner (users may have several windows); a session ends once; the frames of
///   one connection are handled in order, so those that arrive while it is opened are held.
/// Threading: the broker's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/agent_events.h"
#include "broker/audiences.h"
#include "broker/authority.h"
#include "broker/channels.h"
#include "broker/event_subscriptions.h"
#include "broker/late_receipts.h"
#include "broker/prompts.h"
#include "broker/unsupported_lanes.h"
#include "protocol/bye.h"
#include "protocol/ended_session.h"

namespace relay::broker {

/// A part that acts when sessions start and end.
class SessionListener {
 public:
  virtual ~SessionListener() = default;
  /// The changes that open the session are being gathered.
  virtual void on_session_opening(const AgentState& agent) = 0;
  /// The last connection of the agent has closed.
  virtual void on_disconnected(const std::string& name) = 0;
  /// The RELEASE of the agent that is being executed, if any; the session ends by it.
  virtual std::optional<Release> take_release(AgentState& agent) = 0;
};

/// Handles the frames of a connection, also those that were held while it was opened.
class FrameHandler {
 public:
  virtual ~FrameHandler() = default;
  virtual void handle_frame(ConnectionState& connection, std::string_view frame) = 0;
};

/// The end of a session.
struct SessionEnding {
  events::SessionEnd how{};
  std::string by = {};  // the user or agent that released it
  std::string detail = {};
  bool lost = false;  // without BYE: the claim on its name stays
  WallMs at = 0;      // as its host reports; 0: now
};

class Sessions {
 public:
  struct Parts {
    Context& context;
    CommitPipeline& commits;
    Connections& connections;
    Agents& agents;
    Audiences& audiences;
    const Streams& streams;
    EventRecorder& event_recorder;
    const Authority& authority;
    AgentRemoval& removal;
    BlockingRequests& blocking;
    SenderReceipts& receipts;
    Settlement& settlement;
    Deliveries& deliveries;
    LateReceipts& late_receipts;
    UnsupportedLanes& unsupported;
    EventSubscriptions& subscriptions;
    Channels& channels;
    Prompts& prompts;
    SessionListener& listener;
    AgentEvents& agent_events;
    FrameHandler& frames;
  };
  Sessions(const Parts& parts, std::string store_id);

  void restore(records::WorkspaceState& state);

  // sessions.cc
  void on_connect(ConnectionId id, PeerProcess peer);
  void on_disconnect(ConnectionState& connection, std::string_view reason);
  /// Holds the frame until the connection is open; false: it can be handled now.
  bool hold_frame(ConnectionState& connection, std::string_view frame);
  void on_handshake_timeout(ConnectionState& connection);
  void poll_heartbeat(ConnectionState& connection, SteadyTime due);
  /// Flushes the frames and closes the connection, which leaves its agent at once.
  void close(ConnectionState& connection, std::string reason);
  /// Sends BYE to every connection once everything is committed. New connections are closed at once.
  void shut_down(std::string_view reason);

  // handshake.cc
  void on_hello(ConnectionState& connection, const protocol::Envelope& envelope, std::string_view frame);
  // resume.cc
  void on_resume(ConnectionState& connection, const protocol::Envelope& envelope);
  // session_end.cc
  void on_bye(ConnectionState& connection, const protocol::Envelope& envelope);
  /// Once per session. A RELEASE that is being executed overrides the given ending.
  void end_session(AgentState& agent, SessionEnding ending);
  void on_grace_timer(AgentState& agent);
  void on_ended_sessions(const std::vector<protocol::EndedSession>& found);

 private:
  // handshake.cc
  void open_query_connection(ConnectionState& connection, const protocol::Hello& hello);
  void refuse_hello(ConnectionState& connection, protocol::ErrorCode code, const std::string& reason);
  AgentState* agent_for(ConnectionState& connection, const protocol::Hello& hello);
  bool take_name(ConnectionState& newcomer, AgentState& agent, bool entitled);
  void resume_by_hello(ConnectionState& connection, AgentState& agent, const protocol::Hello& hello);
  void open_session(ConnectionState& connection, AgentState& agent, const protocol::Hello& hello,
                    std::string earlier_claim);
  void open_when_saved(ConnectionState& connection, AgentState& agent, std::string earlier_claim);
  void on_open_saved(ConnectionId id, const AgentName& name, const std::string& earlier_claim, CommitResult result);
  void record_session_start(const AgentState& agent, const protocol::Hello& hello);
  void welcome(ConnectionState& connection, const AgentState& agent);
  void activate(ConnectionState& connection, AgentState& agent, std::set<Key> unsettled = {});
  void handle_held(ConnectionId id);
  void announce(const AgentState& agent);
  // resume.cc
  void mark_reconnected(AgentState& agent);
  // session_end.cc
  [[nodiscard]] records::AddEvent end_event(const AgentState& agent, const SessionEnding& ending) const;
  void arm_grace(AgentState& agent, Millis grace);
  void find_ended_sessions();
  void end_by_record(const protocol::EndedSession& ended);
  void detach(ConnectionState& connection);
  void send_bye_to_all(const std::string& reason);

  Parts parts_;
  std::string store_id_;
  bool shutting_down_ = false;
  bool finding_ended_ = false;                // records of ended sessions were requested
  std::vector<std::string> grace_over_;       // agents whose session ends as crashed unless there is a record of it
  std::vector<ConnectionId> awaiting_ended_;  // whose HELLO is held until these records are read
};

/// Records that the user or an agent released the agent.
void record_release(EventRecorder& event_recorder, const AgentName& name, const SessionId& session,
                    const Release& release);
/// PAUSE, with the present state, to every connection of the agent that understands it.
void send_pause_state(Connections& connections, const AgentState& agent);

}  // namespace relay::broker
