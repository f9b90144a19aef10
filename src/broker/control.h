/// CONTROL: flush, retry, cancel, read, redeliver, pause, policy, loops.
///
/// Invariant: an agent controls only deliveries of itself or of agents that it started, and never undoes a setting of
///   the user.
/// Threading: the broker's.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client_requests.h"
#include "broker/expiry.h"
#include "broker/held_deliveries.h"
#include "broker/host_requests.h"
#include "broker/loop_breaker.h"
#include "broker/store_queries.h"
#include "protocol/control.h"

namespace relay::broker {

class Control {
 public:
  Control(Context& context, CommitPipeline& commits, Connections& connections, Agents& agents, Streams& streams,
          ChangesDuringRead& changes_during_read, ClientRequests& requests, StoreQueries& queries, HostRequests& hosts,
          LoopBreaker& loops, Settlement& settlement, Deliveries& deliveries, Expiry& expiry, HeldDeliveries& held)
      : context_{context},
        commits_{commits},
        connections_{connections},
        agents_{agents},
        streams_{streams},
        changes_during_read_{changes_during_read},
        requests_{requests},
        queries_{queries},
        hosts_{hosts},
        loops_{loops},
        settlement_{settlement},
        deliveries_{deliveries},
        expiry_{expiry},
        held_{held} {}

  void on_control(ConnectionState& connection, const protocol::Envelope& envelope);

 private:
  /// A CONTROL, which may take several steps.
  struct Operation {
    ClientRequest client;
    std::string by;  // the requester, for reasons and logs
    protocol::ControlRequest request = {};
    std::uint64_t count = 0;
    std::vector<std::string> ids = {};  // of redelivered ones, the first of them
    Key cursor = {};
    Key end = {};  // later keys came after the command
    /// Of an agent's request: the agents that it may concern, which are the agent itself and those it started. None:
    /// any.
    std::optional<std::vector<std::string>> own = {};
    std::size_t policy_held = 0;  // deliveries that a flush skipped, because the user's policy holds them
  };

  // control.cc
  void start_own(Operation operation, const Result<std::vector<Worker>>& workers);
  void start(Operation operation);
  [[nodiscard]] bool has_session(const Worker& worker);
  [[nodiscard]] std::optional<Rejection> check(const Operation& operation, std::string_view action,
                                               std::initializer_list<std::string_view> concerned);
  void set_paused(Operation operation, AgentState& agent);
  void set_policy(Operation operation, AgentState& agent);
  void answer(const Operation& operation, const std::optional<Rejection>& rejected = {});
  void answer_when_saved(Operation operation);
  // control_deliveries.cc
  void request_held(Operation operation);
  void flush(Operation operation, const Result<records::HeldPage>& page);
  void request_deliveries(Operation operation);
  void on_deliveries(Operation operation, Result<std::vector<records::DeliveryRow>> rows);
  void execute(Operation operation, records::DeliveryRow row);
  [[nodiscard]] std::optional<Rejection> retry(const Operation& operation, const records::DeliveryRow& row, bool final);
  [[nodiscard]] std::optional<Rejection> cancel(const Operation& operation, records::DeliveryRow& row, AgentState& to,
                                                bool final);
  [[nodiscard]] std::optional<Rejection> read(const Operation& operation, records::DeliveryRow& row, AgentState& to,
                                              bool final);
  [[nodiscard]] std::optional<Rejection> redeliver_one(Operation& operation, const records::DeliveryRow& row,
                                                       AgentState& to);
  void end_pending(AgentState& to, records::DeliveryRow& row, records::DeliveryState state,
                   records::ChangeDelivery entry);
  [[nodiscard]] static bool is_held_by_policy(const Operation& operation, const AgentState& to, const AgentName& from);
  void redeliver(Operation& operation, const records::DeliveryRow& row);

  Context& context_;
  CommitPipeline& commits_;
  Connections& connections_;
  Agents& agents_;
  Streams& streams_;
  ChangesDuringRead& changes_during_read_;
  ClientRequests& requests_;
  StoreQueries& queries_;
  HostRequests& hosts_;
  LoopBreaker& loops_;
  Settlement& settlement_;
  Deliveries& deliveries_;
  Expiry& expiry_;
  HeldDeliveries& held_;
};

}  // namespace relay::broker
