/// A workspace with its store, its sockets and its files.
///
/// Invariants: listens only after its store was opened and loaded; while open, its pid file and links are in place.
/// Ownership: owns all of it. Members die in reverse order: sockets first, then the workspace, whose queue stops its
///   worker and closes the store.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/directory.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "config/paths.h"
#include "config/settings.h"
#include "daemon/event_projection.h"
#include "daemon/local_host_manager.h"
#include "daemon/roster_files.h"
#include "daemon/rules.h"
#include "daemon/workspace.h"
#include "net/event_loop.h"
#include "net/stream.h"

namespace relay::daemon {

/// What all workspaces of a daemon share. Everything outlives them.
struct WorkspaceContext {
  const config::Home& home;
  const std::string& version;
  net::EventLoop& loop;
  net::Network& network;
  Random& random;
  HostLauncher& launcher;
  const std::string& system_token;
  SteadyTime started{};  // of the daemon
};

class WorkspaceServer {
 public:
  static Result<std::unique_ptr<WorkspaceServer>> open(const WorkspaceContext& around, const config::Settings& settings,
                                                       const std::string& root);
  ~WorkspaceServer();
  WorkspaceServer(const WorkspaceServer&) = delete;
  WorkspaceServer& operator=(const WorkspaceServer&) = delete;

  /// Listens at an additional path; no effect if it listens there already.
  Result<void> add_listener(const std::string& path);

  /// Listens again where a socket was removed or replaced. An error when the workspace's own directory is gone.
  Result<void> restore_sockets();

  /// Stops listening, drains, then calls `done`; afterwards it may be destroyed. Clients receive the reason.
  void shut_down(net::Task done, std::string_view reason);
  [[nodiscard]] bool is_closing() const { return closing_; }

  /// Applies the settings that can change at run time: retention. Limits apply at the next opening.
  void use_settings(const config::Settings& settings);
  void use_rules(const Rules& rules) { workspace_->use_rules(rules); }
  void set_attention_sink(AttentionSink sink) { workspace_->set_attention_sink(std::move(sink)); }

  [[nodiscard]] const config::Project& project() const { return project_; }
  [[nodiscard]] const config::Settings& opened_with() const { return opened_with_; }
  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] std::vector<std::string> additional_sockets() const;
  [[nodiscard]] const std::string& storage() const { return storage_; }
  [[nodiscard]] const std::string& warning() const { return warning_; }
  [[nodiscard]] std::vector<broker::RosterEntry> roster() const { return workspace_->roster(); }

 private:
  WorkspaceServer(const WorkspaceContext& around, config::Project project, const config::Settings& settings);

  Result<void> listen_at(const std::string& path);

  WorkspaceContext around_;
  config::Project project_;
  config::Settings opened_with_;
  std::string socket_;
  std::string storage_;
  std::string warning_;
  bool announced_ = false;
  bool closing_ = false;
  RosterFiles roster_files_;
  LocalHostManager hosts_;
  std::unique_ptr<EventProjection> projection_;
  std::unique_ptr<DirectoryLock> store_lock_;  // until the workspace has closed its store
  std::unique_ptr<Workspace> workspace_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  Lifetime lifetime_;
};

}  // namespace relay::daemon
