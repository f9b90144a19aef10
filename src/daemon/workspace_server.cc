#include "daemon/workspace_server.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "config/system_token.h"
#include "config/trust.h"
#include "daemon/daemon.h"
#include "daemon/prices.h"
#include "daemon/project_files.h"
#include "daemon/workspace_settings.h"
#include "host/control/peer_classifier.h"
#include "store/queue/durable_queue.h"
#include "store/queue/inline_queue.h"

namespace relay::daemon {

WorkspaceServer::WorkspaceServer(const WorkspaceContext& around, config::Project project,
                                 const config::Settings& settings)
    : around_{around},
      project_{std::move(project)},
      opened_with_{settings},
      roster_files_{project_.directory},
      hosts_{around.home, project_, around.loop, around.network, around.launcher} {}

WorkspaceServer::~WorkspaceServer() {
  lifetime_.end();
  if (announced_) withdraw_project(project_, socket_);
}

Result<std::unique_ptr<WorkspaceServer>> WorkspaceServer::open(const WorkspaceContext& around,
                                                               const config::Settings& settings,
                                                               const std::string& root) {
  struct stat status{};
  if (!root.starts_with('/') || ::stat(root.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return fail(Errc::NoSuchRoot, format("cannot open the workspace {}: there is no such directory", root));
  }
  const WallMs now = around.loop.now().wall;
  auto project = config::usable_project(root, around.home, settings, config::process_environment());
  auto self = std::unique_ptr<WorkspaceServer>{new WorkspaceServer{around, std::move(project), settings}};
  self->socket_ = RELAY_TRY(prepare_project(self->project_, now));

  auto opened = RELAY_TRY(open_store(settings, self->project_, now));
  self->store_lock_ = std::move(opened.lock);
  self->warning_ = opened.damage.message();
  if (opened.damage.lost_messages > 0)
    log::error("the message store was damaged", {{"workspace", root}, {"damage", self->warning_}});
  else if (opened.damage.found())
    log::warn("the message store was damaged", {{"workspace", root}, {"damage", self->warning_}});
  auto snapshot = RELAY_TRY(opened.store->load());

  auto options = workspace_options(settings, around.version);
  options.info.started = around.started;
  options.price_of = price_by(around.home.root + "/cost-models.json");
  options.origin_of = [classifier = std::make_shared<host::PeerClassifier>(
                           self->project_.hosts, around.home.projects,
                           std::vector{around.home.projects, around.home.runtime})](const net::Peer& peer) {
    return classifier->classify(peer.pid);
  };
  options.info.system_token = around.system_token;
  options.info.damage = self->warning_;
  options.info.lost_messages = opened.damage.lost_messages;
  options.info.refused_changes = opened.refused_changes;
  self->storage_ = options.info.storage_driver;
  // Results may still arrive after their workspace has ended.
  const auto post = [&loop = around.loop, alive = self->lifetime_.watch()](net::Task task) {
    loop.post([alive, task = std::move(task)]() mutable {
      if (alive) task();
    });
  };
  const MakeStoreQueue make_queue = [&](store::StoreListener& listener) -> std::unique_ptr<store::StoreQueue> {
    if (opened.path.empty())  // nothing to wait for
      return std::make_unique<store::InlineStoreQueue>(std::move(opened.store), post, listener);
    const auto wait = [&loop = around.loop, timer = std::make_shared<std::unique_ptr<net::Timer>>()](
                          Millis delay, net::Task task) { *timer = loop.after(delay, std::move(task)); };
    return store::make_durable_queue(std::move(opened.store), std::move(opened.journal), opened.durability, post, wait,
                                     listener);
  };
  self->workspace_ = std::make_unique<Workspace>(
      std::move(options), around.loop, around.random, make_queue, std::move(snapshot),
      [files = &self->roster_files_](const auto& roster, WallMs at) { files->write(roster, at); }, EffectProbe{},
      &self->hosts_);
  self->projection_ = std::make_unique<EventProjection>(self->project_.directory, around.loop, post);
  self->workspace_->project_events(*self->projection_);

  RELAY_TRY(self->listen_at(self->socket_));
  self->announced_ = true;
  announce_project(around.home, self->project_, self->socket_);
  log::info("workspace open", {{"root", root}, {"socket", self->socket_}, {"storage", self->storage_}});
  return self;
}

Result<void> WorkspaceServer::listen_at(const std::string& path) {
  listeners_.push_back(RELAY_TRY(around_.network.listen(
      path, [this](std::unique_ptr<net::Stream> stream) { workspace_->accept(std::move(stream)); })));
  return {};
}

Result<void> WorkspaceServer::add_listener(const std::string& path) {
  if (path.empty()) return {};
  const bool listening =
      std::any_of(listeners_.begin(), listeners_.end(), [&](const auto& listener) { return listener->path() == path; });
  if (listening) return {};
  return listen_at(path);
}

Result<void> WorkspaceServer::restore_sockets() {
  if (std::ranges::all_of(listeners_, &net::Listener::is_reachable)) return {};
  std::error_code ignored;
  if (!std::filesystem::is_directory(project_.directory, ignored))
    return fail(
        format("the directory {} of the workspace {} was removed; close it with: agent-relay down, then open it "
               "again with: agent-relay up",
               project_.directory, project_.root));
  Result<void> restored;
  for (auto& listener : std::exchange(listeners_, {})) {
    if (!listener->is_reachable()) {
      log::warn("listening again at a socket that was removed", {{"socket", listener->path()}});
      const auto listening = listen_at(listener->path());
      if (listening) continue;
      if (restored) restored = listening;
    }
    listeners_.push_back(std::move(listener));
  }
  announce_project(around_.home, project_, socket_);
  return restored;
}

std::vector<std::string> WorkspaceServer::additional_sockets() const {
  std::vector<std::string> paths;
  for (const auto& listener : listeners_) {
    if (listener->path() != socket_) paths.push_back(listener->path());
  }
  return paths;
}

void WorkspaceServer::use_settings(const config::Settings& settings) {
  workspace_->use_retention(retention_of(settings));
}

void WorkspaceServer::shut_down(net::Task done, std::string_view reason) {
  closing_ = true;
  listeners_.clear();
  log::info("workspace closing", {{"root", project_.root}});
  workspace_->shut_down(std::move(done), reason);
}

}  // namespace relay::daemon
