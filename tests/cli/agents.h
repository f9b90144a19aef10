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
  std::string story;         // every history entry: state, proof and reason
  [[nodiscard]] bool tells(const std::string& words) const { return story.find(words) != std::string::npos; }
};

class Agents : public ::testing::Test {
 protected:
  Agents();
  /// Stops what a failed test left behind: orphaned hosts and the tmux server.
  ~Agents() override;

  /// Sets the script of agents started later.
  void script(const std::string& json) const;
  /// Sets the time between text and Enter for hosts started later.
  void submit_gap(Millis gap) const;
  /// Starts an agent in a terminal and waits for its screen; killed with the test.
  Terminal& start(const std::string& name, const std::vector<std::string>& more = {});
  /// Starts another program under that name and waits until its screen shows `shows`.
  Terminal& start_program(const std::string& name, const std::vector<std::string>& command, const std::string& shows);
  /// Kills the host with SIGKILL.
  void kill(const std::string& name) { terminals_.erase(name); }
  Terminal& terminal(const std::string& name) { return *terminals_.at(name); }

  /// Polls until `holds` is true, reading all terminals.
  bool until(const std::function<bool()>& holds);
  /// Waits, to see that nothing happens.
  void let_pass(Millis time);

  /// Sends `body` from `tester`; returns the message id.
  std::string send(const std::string& to, const std::string& body, const std::vector<std::string>& options = {});
  TraceResult trace_of(const std::string& id);
  bool reaches_state(const std::string& id, const std::string& state) {
    return until([&] { return trace_of(id).state == state; });
  }
  bool is_pending_because(const std::string& id, const std::string& reason) {
    return until([&] { return trace_of(id).tells(reason); });
  }
  bool is_connected(const std::string& name);

  /// The log of the agent, over all its runs.
  std::vector<json::object> events(const std::string& name) const;
  std::size_t count(const std::string& name, const std::string& event) const;
  /// The member `text` of all events of that kind, in order.
  std::vector<std::string> texts(const std::string& name, const std::string& event) const;
  std::vector<std::string> submitted(const std::string& name) const { return texts(name, "submit"); }
  /// The number of submitted texts that contain `words`.
  std::size_t heard(const std::string& name, const std::string& words) const;
  bool hears(const std::string& name, const std::string& words) {
    return until([&] { return heard(name, words) > 0; });
  }
  /// How often this byte was typed to the agent.
  std::size_t typed(const std::string& name, char byte) const;
  pid_t agent_pid(const std::string& name) const;

  /// The line that an agent is given for a message.
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
