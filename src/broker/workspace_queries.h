/// Queries about the workspace: STATUS, LIST_AGENTS, HEALTH, METRICS, LOOPS. Only STATUS reads the store.
/// Threading: the broker's.
#pragma once

#include <string>
#include <vector>

#include "broker/agents.h"
#include "broker/event_recorder.h"
#include "broker/loop_breaker.h"
#include "broker/server_info.h"
#include "broker/store_queries.h"

namespace relay::broker {

class WorkspaceQueries {
 public:
  WorkspaceQueries(Context& context, CommitPipeline& commits, Connections& connections, const Agents& agents,
                   EventRecorder& event_recorder, ClientRequests& requests, StoreQueries& queries,
                   const LoopBreaker& loops, ServerInfo info)
      : context_{context},
        commits_{commits},
        connections_{connections},
        agents_{agents},
        event_recorder_{event_recorder},
        requests_{requests},
        queries_{queries},
        loops_{loops},
        info_{std::move(info)},
        started_{context.steady()} {}

  void on_status(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_list_agents(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_list_connected_agents(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_health(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_metrics(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_loops(ConnectionState& connection, const protocol::Envelope& envelope);

  /// STATUS and HEALTH report it from now on, and it becomes an event.
  void on_damage(const StoreDamage& damage);

 private:
  [[nodiscard]] std::string status(const Result<records::StoreStats>& stats) const;
  void list_agents(ConnectionState& connection, const protocol::Envelope& envelope, bool connected_only);
  [[nodiscard]] std::vector<std::string> paused_agents() const;

  Context& context_;
  CommitPipeline& commits_;
  Connections& connections_;
  const Agents& agents_;
  EventRecorder& event_recorder_;
  ClientRequests& requests_;
  StoreQueries& queries_;
  const LoopBreaker& loops_;
  ServerInfo info_;
  SteadyTime started_;
  bool damaged_while_running_ = false;
};

}  // namespace relay::broker
