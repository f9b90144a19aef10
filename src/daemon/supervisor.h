/// Everything one daemon process holds: the control socket and the open workspaces, from start to drained end.
///
/// Invariants: what is open is what `workspaces.json` remembers, except for roots that could not be opened at the
///   start (they stay remembered); shutting down closes every workspace once and reports the end once.
/// Ownership: owns control socket and workspaces; borrows loop, network, random and launcher. Threading: loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "daemon/control_socket.h"
#include "daemon/daemon.h"
#include "daemon/rules.h"
#include "daemon/saved_workspaces.h"
#include "daemon/workspace_server.h"
#include "net/event_loop.h"
#include "net/stream.h"

namespace relay::daemon {

class Supervisor final : private ControlHandler {
 public:
  Supervisor(const DaemonOptions& options, net::EventLoop& loop, net::Network& network, Random& random,
             HostLauncher& launcher, net::Task on_ended);

  /// Listens, reopens what is remembered, opens what was asked for. Fails only where the daemon would be of no use.
  Result<void> start();

  /// New settings: retention at once, limits for workspaces opened from now on.
  void use_settings(config::Settings settings);
  /// As loaded last.
  [[nodiscard]] const config::Settings& settings() const { return settings_; }
  /// Loads config.toml again, on request; an error leaves everything as it was.
  void on_reload(std::function<Result<void>()> load) { load_ = std::move(load); }
  /// Where HTTP is served, or why not; both empty when it is switched off.
  void report_http(std::string url, std::string error);

  /// What agents may do without a person, in every workspace.
  void use_rules(Rules rules);
  /// Hears when an agent begins to wait for a person, with the root of its project.
  void set_attention_sink(std::function<void(const broker::NotifyUser&, const std::string& root)> tell) {
    attention_sink_ = std::move(tell);
  }

  /// Drains and closes everything, then reports the end. Further calls change nothing.
  void begin_shutdown() override;

 private:
  using Workspaces = std::map<std::string, std::unique_ptr<WorkspaceServer>>;

  void open_workspace(const protocol::WorkspaceRequest& request, OnDone done) override;
  void close_workspace(const protocol::WorkspaceRequest& request, OnDone done) override;
  std::string describe_workspaces(const Result<void>& outcome) override;
  std::string describe_daemon(const std::string& root) override;
  std::string reload(const std::string& root) override;
  [[nodiscard]] config::Settings settings_in_force(const std::string& root) const;

  [[nodiscard]] std::string normalized(const std::string& root) const;
  Result<WorkspaceServer*> open(const std::string& wanted, const std::string& socket);
  void reopen_saved();
  void save_workspaces();
  void drop_unopened(const std::string& root);
  void close_workspace_at(const std::string& root, std::string_view reason, OnDone done);
  void end_if_empty();

  const DaemonOptions& options_;
  config::Settings settings_;  // as loaded last; what was in force at the start is in the options
  std::function<Result<void>()> load_;
  std::string http_url_, http_error_;
  net::EventLoop& loop_;
  net::Network& network_;
  Random& random_;
  HostLauncher& launcher_;
  std::string system_token_;  // made with the first workspace; the same for all
  SteadyTime started_;
  net::Task on_ended_;
  bool ending_ = false;
  Rules rules_;  // none: nothing is approved, and agents start no others
  std::function<void(const broker::NotifyUser&, const std::string& root)> attention_sink_;
  Workspaces workspaces_;
  std::vector<SavedWorkspace> unopened_;  // remembered, but their roots were not there
  ControlSocket control_;
};

}  // namespace relay::daemon
