/// A host of the simulation: the real Host, a fake agent in its terminal, a typing user, and crashes.
///
/// The user types drafts, sends or clears them, and answers dialogs that open at random. What the agent took outlives
/// the host, and so do the disk with outbox and intent log.
/// Some agents have a transcript, an inbox and a hook as well.
/// Checked whenever the host writes to the agent: the agent's terminal shows no draft and no dialog (sim_host_clients.h
/// has the exception), and the user has not typed a moment ago; Enter and Backspace meet only text of the host. Checked whenever the agent takes a
/// prompt: no message is in it that was in one before or was fetched, none that was stored while the agent was paused
/// and still is, and the file of a long one holds its whole body.
/// Ownership: borrows loop, network, random, trace and faults, which outlive it. Threading: one thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/testing/memory_directory.h"
#include "host/host.h"
#include "host/testing/fake_agent.h"
#include "host/testing/fake_user_terminal.h"
#include "tests/simulation/fault_plan.h"
#include "tests/simulation/history_checker.h"
#include "tests/simulation/sim_host_clients.h"
#include "tests/simulation/trace.h"

namespace relay::simulation {

class SimAdapter;

struct SimHostPlan {
  std::string name;
  bool native = false;         // the agent has a transcript and an inbox
  bool reports_status = true;  // OSC 7501
  bool user_types = true;
  milliseconds max_read{2};   // until the agent reads a key
  milliseconds max_draw{20};  // until it draws what has changed
  milliseconds max_turn{1'500};
  // In hundreds.
  std::uint64_t tears_frame = 0, loses_enter = 0, opens_dialog_in_turn = 0, paste_meets_dialog = 0;
  std::uint64_t inbox_fails = 0;
  std::uint64_t replies = 0;  // a turn ends with a relay command
  bool has_clients = false;   // of its socket
};

/// What happened, over all processes.
struct SimHostCounts {
  std::uint64_t prompts = 0;          // that held a message
  std::uint64_t by_inbox = 0;         // of those
  std::uint64_t sent_by_user = 0;     // a message that the user's Enter sent
  std::uint64_t met_dialog = 0;       // keys of the host that a dialog met which its terminal did not show yet
  std::uint64_t answered_dialog = 0;  // of those, an Enter, which answered it
  std::uint64_t deaths = 0;
  std::uint64_t answered = 0;       // prompts, by a client of the host socket
  std::uint64_t fetched = 0;        // messages
  std::uint64_t files = 0;          // long messages that the agent read in a file
  std::uint64_t sent_by_agent = 0;  // relay commands

  void add(const SimHostCounts& other);
};

class SimHost {
 public:
  /// `directory`: for its record.
  SimHost(SimHostPlan plan, VirtualLoop& loop, net::Network& network, Random& random, Trace& trace,
          HistoryChecker& checker, std::string directory);
  ~SimHost();

  void start();
  /// As `kill -9` of the host, which ends the agent as well.
  void crash();
  /// The agent exits; so does its host, which starts again soon.
  void end_agent();
  /// One thing that the user or the agent does, drawn from the seed.
  void act();
  /// After the faults: the user answers dialogs, clears drafts and types nothing.
  void recover();

  [[nodiscard]] const std::string& name() const { return plan_.name; }
  [[nodiscard]] SimHostCounts counts() const;
  /// Was that message in a prompt?
  [[nodiscard]] bool has_taken(std::uint64_t number) const { return taken_.contains(number); }
  /// Its agent's MCP server returned that message.
  [[nodiscard]] bool has_read(std::uint64_t number) const { return clients_.has_read(number); }
  /// Nothing but the host's own doing can have left a doubt.
  [[nodiscard]] bool is_undisturbed() const;
  [[nodiscard]] std::string describe() const;

 private:
  friend class SimAdapter;
  struct Process;

  [[nodiscard]] bool chance(std::uint64_t in_hundred) { return random_.below(100) < in_hundred; }
  [[nodiscard]] Millis within(milliseconds max) {
    return Millis{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(max.count()) + 1))};
  }
  [[nodiscard]] std::string socket_path() const { return "/home/" + plan_.name + ".sock"; }
  host::HostOptions make_options(Process& process);
  host::testing::FakeAgent::Options agent_options();
  void type(std::string_view keys);
  void type_burst(std::size_t left);
  void on_written(const host::testing::AgentKey& key, const host::testing::AgentView& shown);
  void on_prompt(const std::string& prompt, std::string_view by);
  void record_prompt(const std::string& prompt, std::string_view by);
  void record_taken(std::uint64_t number, std::string_view by);
  void check_file(std::uint64_t number, std::string_view prompt);
  void act_as_client();
  void violate(const std::string& what);
  void restart_soon();

  SimHostPlan plan_;
  VirtualLoop& loop_;
  net::Network& network_;
  Random& random_;
  Trace& trace_;
  HistoryChecker& checker_;
  std::string directory_;
  client::testing::MemoryDirectory disk_;
  std::map<std::uint64_t, std::string> taken_;  // by number: how
  SimHostCounts counts_;
  bool recovering_ = false;
  std::uint64_t dialogs_ = 0;
  SimHostClients clients_;
  std::string last_paste_;
  SteadyTime last_key_{};  // of the user's
  SteadyTime cleared_at_{};
  int process_count_ = 0;
  std::unique_ptr<Process> process_;
};

}  // namespace relay::simulation
