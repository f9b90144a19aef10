/// The clients of a host's socket: a user who answers prompts and sends input, and the agent's MCP server that fetches.
///
/// Each request is the product's own HostCall. Checked: keys go into a dialog only while an answer to its prompt is
/// requested, Enter once and on the requested choice; an answer that succeeded closed its dialog with that choice, unless
/// the user pressed keys meanwhile; a message that is read has its whole body.
/// Ownership: borrows everything it is made with, which outlives it. Threading: one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "host/control/host_call.h"
#include "host/testing/fake_agent.h"
#include "tests/simulation/history_checker.h"
#include "tests/simulation/trace.h"

namespace relay::simulation {

class SimHostClients {
 public:
  /// The agent took that message by `fetch`, which it had read before.
  using OnFetched = std::function<void(std::uint64_t number)>;

  SimHostClients(VirtualLoop& loop, net::Network& network, Random& random, Trace& trace, HistoryChecker& checker,
                 std::string agent, std::string socket, OnFetched on_fetched)
      : loop_{loop},
        network_{network},
        random_{random},
        trace_{trace},
        checker_{checker},
        agent_{std::move(agent)},
        socket_{std::move(socket)},
        on_fetched_{std::move(on_fetched)} {}

  /// Answers a prompt that the host lists, if there is one.
  void answer_prompt();
  /// As the MCP server does it: reads messages, passes them to the agent, then takes them.
  void fetch();
  void send_input();

  /// The host writes this key while its agent shows a dialog. False: no request explains it.
  bool explains(const host::testing::AgentKey& key, const host::testing::AgentView& shown);
  void on_dialog_closed(const std::string& command, bool approved) { closed_[command] = approved; }
  void on_user_key() { ++user_keys_; }
  /// The host has ended, and its requests with it.
  void on_host_ended() { answers_.clear(); }

  [[nodiscard]] std::uint64_t answered() const { return answered_; }
  [[nodiscard]] std::uint64_t fetched() const { return fetched_; }
  [[nodiscard]] bool has_read(std::uint64_t number) const { return read_.contains(number); }

 private:
  struct Answer {
    std::uint64_t number = 0;
    std::string summary;
    bool approve = false;
    bool entered = false;
    std::uint64_t user_keys = 0;  // before the request
  };
  using Done = std::function<void(const Result<json::object>& response)>;

  void call(std::string body, Done done);
  void take(const json::array& messages);
  void request_answer(const json::object& prompt);
  void on_answered(std::uint64_t number, const Result<json::object>& response);
  void violate(const std::string& what);

  VirtualLoop& loop_;
  net::Network& network_;
  Random& random_;
  Trace& trace_;
  HistoryChecker& checker_;
  std::string agent_;
  std::string socket_;
  OnFetched on_fetched_;
  std::map<std::uint64_t, std::unique_ptr<host::HostCall>> calls_;
  std::vector<Answer> answers_;         // requested, without a response
  std::map<std::string, bool> closed_;  // by command: approved
  std::uint64_t last_call_ = 0;
  std::uint64_t user_keys_ = 0, answered_ = 0, fetched_ = 0;
  std::set<std::uint64_t> read_;  // messages
};

}  // namespace relay::simulation
