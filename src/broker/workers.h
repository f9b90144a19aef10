/// Workers: SPAWN, RELEASE, SEND_INPUT, LIST_WORKERS. The daemon starts and stops their hosts. The task of a new agent
/// is a message like any other, and SPAWN_RESULT is sent once it is stored.
///
/// Bounds: max_starting and max_starting_each; kMaxSpawned agents that have not sent HELLO yet.
/// Threading: the broker's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "broker/authority.h"
#include "broker/client_requests.h"
#include "broker/commit_budget.h"
#include "broker/host_requests.h"
#include "broker/one_shot_senders.h"
#include "broker/prompts.h"
#include "broker/publisher.h"
#include "broker/sessions.h"

namespace relay::broker {

enum class SpawnPlace : std::uint8_t { Anywhere, InsideProject };

/// The members of a SPAWN frame that are needed later.
struct SpawnFrame {
  std::string_view id;
  std::string_view claim_token = {};
};

class Workers final : public NameHolder, public SessionListener {
 public:
  Workers(Context& context, CommitPipeline& commits, CommitBudget& budget, Connections& connections, Agents& agents,
          EventRecorder& event_recorder, const Authority& authority, ClientRequests& requests, HostRequests& hosts,
          AgentRemoval& removal, OneShotSenders& one_shot, Publisher& publisher, Prompts& prompts, Sessions& sessions)
      : context_{context},
        commits_{commits},
        budget_{budget},
        connections_{connections},
        agents_{agents},
        event_recorder_{event_recorder},
        authority_{authority},
        requests_{requests},
        hosts_{hosts},
        removal_{removal},
        one_shot_{one_shot},
        publisher_{publisher},
        prompts_{prompts},
        sessions_{sessions} {}

  void on_release(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_send_input(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_list_workers(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_set_model(ConnectionState& connection, const protocol::Envelope& envelope);

  /// `approver` is the ANSWER that approved it, if one did.
  void start(ConnectionState& connection, const SpawnFrame& frame, protocol::SpawnRequest wanted,
             SpawnPlace place = SpawnPlace::Anywhere, std::optional<ClientRequest> approver = {});
  void refuse_spawn(ConnectionState& connection, std::string_view request, std::string_view name,
                    const Rejection& rejected) {
    refuse(connection, request, protocol::MessageType::SpawnResult, name, rejected);
  }
  /// A released agent has ended, but its connection did not close in time.
  void on_release_due(const std::string& name) { finish_releases(name, context_.steady()); }

  [[nodiscard]] bool is_using(const AgentState& agent) const override {
    return is_starting(agent.name().value()) || agent.releasing->has_value();
  }
  [[nodiscard]] std::string removal_obstacle(const std::string& name) const override;
  void on_session_opening(const AgentState& agent) override;
  void on_disconnected(const std::string& name) override { finish_releases(name, SteadyTime::max()); }
  std::optional<Release> take_release(AgentState& agent) override { return std::exchange(*agent.releasing, {}); }

 private:
  /// A SPAWN whose agent is being started.
  struct PendingSpawn {
    ConnectionId connection;
    std::string name;
    AgentName from;
    SessionId session;
    bool as_user = false;  // the user gives the task
    std::string payload;   // of the message with the task; empty: none
    std::string cli = {};
    std::string task = {};
    std::string role = {};
    std::optional<ClientRequest> approver = {};
  };
  /// A started agent that has not sent HELLO yet. Its HELLO completes the event.
  struct Spawned {
    events::AgentSpawned event;
    SteadyTime at{};
  };
  /// A RELEASE whose agent has ended. It is answered when the agent's session has disconnected as well, or when it is
  /// due.
  struct PendingRelease {
    ClientRequest request;
    SteadyTime due;
  };

  // spawn.cc
  [[nodiscard]] std::optional<Rejection> check_spawn(const ConnectionState& connection,
                                                     const protocol::SpawnRequest& wanted, const PendingSpawn& starting,
                                                     std::string_view claim_token);
  [[nodiscard]] std::optional<Rejection> check_task(const ConnectionState& connection,
                                                    const protocol::SpawnRequest& wanted, const PendingSpawn& starting,
                                                    std::string_view claim_token);
  [[nodiscard]] bool is_starting(std::string_view name) const;
  void on_started(std::uint64_t start, const ClientRequest& request, Result<std::int32_t> pid);
  void record_spawned(const std::string& name, events::AgentSpawned event);
  std::string post_task(PendingSpawn& started);
  void reject_approver(const std::optional<ClientRequest>& approver, std::string_view name, const Rejection& reason);
  // workers.cc
  void on_released(const ClientRequest& request, const std::string& name, const Release& release,
                   const Result<void>& outcome);
  void finish_releases(const std::string& name, SteadyTime due_by);
  std::optional<ClientRequest> open_request(ConnectionState& connection, std::string_view request,
                                            protocol::MessageType response, std::string_view name);
  void refuse(ConnectionState& connection, std::string_view request, protocol::MessageType response,
              std::string_view name, const Rejection& rejected);
  void respond(const ClientRequest& request, std::string_view name, const Result<void>& outcome);

  Context& context_;
  CommitPipeline& commits_;
  CommitBudget& budget_;
  Connections& connections_;
  Agents& agents_;
  EventRecorder& event_recorder_;
  const Authority& authority_;
  ClientRequests& requests_;
  HostRequests& hosts_;
  AgentRemoval& removal_;
  OneShotSenders& one_shot_;
  Publisher& publisher_;
  Prompts& prompts_;
  Sessions& sessions_;
  std::map<std::uint64_t, PendingSpawn> starting_;
  std::uint64_t last_start_ = 0;
  std::map<std::string, Spawned> spawned_;              // by name
  std::multimap<std::string, PendingRelease> leaving_;  // by name
};

/// The task as one line, cut for listings and command lines.
std::string task_summary(std::string_view task);

}  // namespace relay::broker
