/// Scripted agents in one project: the real daemon, a real host for each agent, a real terminal for each host.
///
/// The expected results come from the logs of the agents (tests/scripted_agent): submitted prompts, input in dialogs, starts
/// and exits. Waits here also read every terminal, as users do.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/terminal.h"

namespace relay::cli_tests {

/// The output of `trace` for one message to one recipient.
struct TraceResult {
  std::string state, proof;  // current
  std::string history;       // every history entry: state, proof and reason
  [[nodiscard]] bool contains(const std::string& words) const { return history.find(words) != std::string::npos; }
};

class Agents : public ::testing::Test {
 protected:
  Agents();
  /// Stops what a failed test left behind: orphaned hosts and the tmux server.
  ~Agents() override;

  /// Sets the script for agents started later.
  void script(const std::string& json) const;
  /// Sets the time between text and Enter for hosts started later.
  void submit_gap(Millis gap) const;
  /// Starts an agent in a terminal and waits for its screen; killed with the test.
  Terminal& start(const std::string& name, const std::vector<std::string>& more = {});
  /// Starts another program under that name and waits for `shows` on its screen.
  Terminal& start_program(const std::string& name, const std::vector<std::string>& command, const std::string& shows);
  /// Starts an agent and types a draft, which keeps messages pending.
  Terminal& start_with_draft(const std::string& name, const std::string& draft = "half a li",
                             const std::vector<std::string>& more = {});
  /// Sends `body` to an agent with a draft and waits until it is pending because of that draft.
  std::string send_behind_draft(const std::string& name, const std::string& body);
  /// Starts the fake Claude Code under that name.
  Terminal& start_fake_claude(const std::string& name, const std::vector<std::string>& more = {});
  /// The same, once it has called its first hook, so that the host reads its transcript.
  Terminal& start_hooked_claude(const std::string& name, const std::vector<std::string>& more = {});
  /// The interface that the host uses for a task (`output`, `prompts`); empty when there is none.
  std::string interface_for(const std::string& name, const std::string& task);
  /// Kills the host with SIGKILL.
  void kill(const std::string& name) { terminals_.erase(name); }
  Terminal& terminal(const std::string& name) { return *terminals_.at(name); }

  /// Polls until `holds` is true, reading all terminals.
  bool until(const std::function<bool()>& holds);
  /// Reads all terminals for that long, to check that nothing happens.
  void read_terminals_for(Millis time);

  /// Sends `body` from `tester`; returns the message id.
  std::string send(const std::string& to, const std::string& body, const std::vector<std::string>& options = {});
  TraceResult trace_of(const std::string& id);
  bool reaches_state(const std::string& id, const std::string& state) {
    return until([&] { return trace_of(id).state == state; });
  }
  bool is_pending_because(const std::string& id, const std::string& reason) {
    return until([&] { return trace_of(id).contains(reason); });
  }
  bool is_connected(const std::string& name);

  /// The events in the agent's log, over all its runs.
  std::vector<json::object> events(const std::string& name) const;
  std::size_t count(const std::string& name, const std::string& event) const;
  /// The member `text` of all events of that kind, in order.
  std::vector<std::string> texts(const std::string& name, const std::string& event) const;
  std::vector<std::string> submitted(const std::string& name) const { return texts(name, "submit"); }
  /// The number of submitted texts that contain `words`.
  std::size_t submit_count(const std::string& name, const std::string& words) const;
  /// Waits for such a text.
  bool receives(const std::string& name, const std::string& words) {
    return until([&] { return submit_count(name, words) > 0; });
  }
  /// The number of times that this byte was typed to the agent.
  std::size_t typed(const std::string& name, char byte) const;
  pid_t agent_pid(const std::string& name) const;

  /// The line that an agent gets for a message.
  static std::string delivered_line(const std::string& id, const std::string& body, const std::string& tags = {}) {
    return "Relay message from tester [" + id + "]" + tags + ": " + body;
  }

  Sandbox box;

  std::string log_of(const std::string& name) const { return box.project() + "/" + name + ".log"; }

 private:
  /// The directory of a tmux server of this test.
  std::string tmux_directory() const { return box.project() + "/tmux"; }

  std::map<std::string, std::unique_ptr<Terminal>> terminals_;
};

}  // namespace relay::cli_tests
