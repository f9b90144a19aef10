/// The processes of a run: a daemon, the agents, and a host for each agent, in a separate home and project.
///
/// A killed process is restarted under its name after a delay. A process that exits by itself is an error with its
/// output.
/// Ownership: owns the processes and the directory. Threading: one thread; nothing blocks.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "crash/process.h"

namespace relay::accuracy {

struct ProcessOptions {
  std::string program;  // agent-relay
  std::string agent;    // scripted_agent
  std::string profile;  // of its screen
  std::string durability = "power";
  std::size_t agents = 6;
  bool keep = false;  // keeps the files
};

class Processes {
 public:
  Processes(ProcessOptions options, Random& random) : options_{std::move(options)}, random_{random} {}
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Creates the directory and starts every process.
  Result<void> open(SteadyTime now);
  /// Restarts killed processes whose delay has passed.
  Result<void> restart_due(SteadyTime now);

  /// Kills with -9. False when the process is not running.
  bool kill_daemon(SteadyTime now);
  bool kill_host(std::size_t agent, SteadyTime now);
  bool kill_agent(std::size_t agent);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string socket() const { return directory_ + "/r.sock"; }
  [[nodiscard]] std::string log_of(std::size_t agent) const;
  static std::string name_of(std::size_t agent);

 private:
  struct ManagedProcess {
    crash::Process process;
    bool running = false;
    bool may_exit = false;  // its agent was killed, so the host exits
    SteadyTime restart_at{};
  };
  Result<void> create_files();
  [[nodiscard]] Result<crash::Process> start(std::vector<std::string> arguments, const std::string& output) const;
  Result<void> start_daemon();
  Result<void> start_host(std::size_t agent);
  void stop(ManagedProcess& stopped, SteadyTime now);
  [[nodiscard]] pid_t agent_of(pid_t host) const;
  [[nodiscard]] std::string output_tail(const std::string& file) const;

  ProcessOptions options_;
  Random& random_;
  std::string directory_;
  std::string project_;
  std::string host_records_;
  ManagedProcess daemon_;
  std::vector<ManagedProcess> hosts_;
};

}  // namespace relay::accuracy
