/// Scripted agents at home in one project: the real daemon, a real host for each agent, a real terminal for each host.
///
/// The judge is what the agents wrote down themselves (tests/scripted_agent): what they were given by Enter, what was
/// typed into their dialogs, when they started and ended. Whoever waits here also reads every terminal, as people do.
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

/// What `trace` tells of one message to one recipient.
struct HistoryChecker {
  std::string state, proof;  // now
  std::string story;         // every step: state, proof and reason
  [[nodiscard]] bool tells(const std::string& words) const { return story.find(words) != std::string::npos; }
};

class Agents : public ::testing::Test {
 protected:
  Agents();
  /// Ends what a failed test left behind: hosts that are nobody's children, and the tmux server.
  ~Agents() override;

  /// The script of the agents that start from now on.
  void script(const std::string& json) const;
  /// How long hosts that start from now on wait between a text and Enter.
  void submit_gap(Millis gap) const;
  /// In a terminal, here, and drawn; dies with the test.
  Terminal& start(const std::string& name, const std::vector<std::string>& more = {});
  /// Any other program under that name, once its screen shows these words.
  Terminal& start_program(const std::string& name, const std::vector<std::string>& command, const std::string& shows);
  /// The host, by -9.
  void kill(const std::string& name) { terminals_.erase(name); }
  Terminal& terminal(const std::string& name) { return *terminals_.at(name); }

  /// Tries until it holds, reading all terminals.
  bool until(const std::function<bool()>& holds);
  /// Only to see that something does not happen.
  void let_pass(Millis time);

  /// `body` from `tester`; the message's id.
  std::string send(const std::string& to, const std::string& body, const std::vector<std::string>& options = {});
  HistoryChecker ledger(const std::string& id);
  bool comes_to(const std::string& id, const std::string& state) {
    return until([&] { return ledger(id).state == state; });
  }
  bool waits_because(const std::string& id, const std::string& reason) {
    return until([&] { return ledger(id).tells(reason); });
  }
  bool is_here(const std::string& name);

  /// What happened to the agent, over all its lives.
  std::vector<json::object> events(const std::string& name) const;
  std::size_t count(const std::string& name, const std::string& event) const;
  /// The member `text` of all events of that kind, in order.
  std::vector<std::string> texts(const std::string& name, const std::string& event) const;
  std::vector<std::string> submitted(const std::string& name) const { return texts(name, "submit"); }
  /// How many of the submitted texts contain these words.
  std::size_t heard(const std::string& name, const std::string& words) const;
  bool hears(const std::string& name, const std::string& words) {
    return until([&] { return heard(name, words) > 0; });
  }
  /// How often this byte was typed at the agent, by whomever.
  std::size_t typed(const std::string& name, char byte) const;
  pid_t agent_pid(const std::string& name) const;

  /// As the agent is shown it.
  static std::string letter(const std::string& id, const std::string& body, const std::string& tags = {}) {
    return "Relay message from tester [" + id + "]" + tags + ": " + body;
  }

  Sandbox box;

  std::string log_of(const std::string& name) const { return box.project() + "/" + name + ".log"; }

 private:
  /// Of a tmux server that only this test uses.
  std::string tmux_directory() const { return box.project() + "/tmux"; }

  std::map<std::string, std::unique_ptr<Terminal>> terminals_;
};

}  // namespace relay::cli_tests
