/// One daemon process: the control socket and the open workspaces, from start to drained end.
///
/// Invariants: the open workspaces are those in `workspaces.json`, except roots that could not be opened at the start
///   (they stay in the file); shutting down closes every workspace once and reports the end once.
/// Ownership: owns control socket and workspaces; borrows loop, network, random and launcher. Threading: loop thread
///   only.
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

  /// Listens, opens the saved and the requested workspaces. Fails only if the daemon would be unusable.
  Result<void> start();

  /// Applies new settings: retention at once, limits to workspaces opened from now on.
  void use_settings(config::Settings settings);
  /// The settings loaded last.
  [[nodiscard]] const config::Settings& settings() const { return settings_; }
  /// Sets the function that reloads config.toml; on an error everything stays as it was.
  void on_reload(std::function<Result<void>()> load) { load_ = std::move(load); }
  /// Sets the address of HTTP, or the reason why it is not served; both empty when it is switched off.
  void report_http(std::string url, std::string error);

  /// Applies the rules to every workspace.
  void use_rules(Rules rules);
  /// Called when an agent starts to wait for the user, with the root of its project.
  void set_attention_sink(std::function<void(const broker::NotifyUser&, const std::string& root)> sink) {
    attention_sink_ = std::move(sink);
  }

  /// Drains and closes everything, then reports the end. More calls have no effect.
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
  config::Settings settings_;  // loaded last; those of the start are in the options
  std::function<Result<void>()> load_;
  std::string http_url_, http_error_;
  net::EventLoop& loop_;
  net::Network& network_;
  Random& random_;
  HostLauncher& launcher_;
  std::string system_token_;  // created with the first workspace; the same for all
  SteadyTime started_;
  net::Task on_ended_;
  bool ending_ = false;
  Rules rules_;  // null: nothing is approved, and agents start no others
  std::function<void(const broker::NotifyUser&, const std::string& root)> attention_sink_;
  Workspaces workspaces_;
  std::vector<SavedWorkspace> unopened_;  // saved, but their roots could not be opened
  ControlSocket control_;
};

}  // namespace relay::daemon
