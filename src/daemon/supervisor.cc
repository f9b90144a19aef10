#include "daemon/supervisor.h"

#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/log.h"
#include "config/system_token.h"
#include "config/trust.h"
#include "daemon/service_notify.h"
#include "host/control/peer_classifier.h"
#include "protocol/bye.h"
#include "protocol/limits.h"
#include "protocol/send.h"
#include "text/json_writer.h"

namespace relay::daemon {
namespace {

/// The wire code for a workspace that was not opened or closed.
std::string_view code_of(const Error& error) {
  if (const auto refusal = protocol::nack_code_of(error)) return name_of(*refusal);
  if (is(error, Errc::NoSuchRoot)) return name_of(protocol::NackCode::BadRequest);
  if (is(error, config::Errc::NotTrusted)) return name_of(protocol::NackCode::Refused);
  if (is(error, Errc::NotOpen)) return name_of(protocol::ErrorCode::NotFound);
  return name_of(protocol::ErrorCode::Internal);
}

/// Agents of all projects count, under their names.
ControlSocket::OriginOf classify_by(const config::Home& home) {
  return
      [classifier = std::make_shared<host::PeerClassifier>(
           [projects = home.projects] { return host::host_directories(projects); },
           std::vector{home.projects, home.runtime})](const net::Peer& peer) { return classifier->classify(peer.pid); };
}

}  // namespace

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::AlreadyRunning: return "another daemon runs";
    case Errc::NoSuchRoot: return "there is no such directory";
    case Errc::NotOpen: return "the workspace is not open";
  }
  return "unknown";
}

Supervisor::Supervisor(const DaemonOptions& options, net::EventLoop& loop, net::Network& network, Random& random,
                       HostLauncher& launcher, net::Task on_ended)
    : options_{options},
      settings_{options.settings},
      loop_{loop},
      network_{network},
      random_{random},
      launcher_{launcher},
      started_{loop.now().steady},
      on_ended_{std::move(on_ended)},
      control_{loop, *this, classify_by(options.home)} {}

Result<void> Supervisor::start() {
  const std::string path = RELAY_TRY(config::socket_to_listen(options_.home.daemon_socket));
  RELAY_TRY(control_.listen(network_, path));
  reopen_saved();
  for (const auto& [root, socket] : options_.open) {
    RELAY_TRY(open(root, socket.empty() ? settings_.socket() : socket));
  }
  save_workspaces();
  return {};
}

void Supervisor::reopen_saved() {
  auto saved = read_saved_workspaces(options_.home.workspaces);
  if (!saved) return log::warn(saved.error().message());
  for (auto& workspace : *saved) {
    const auto opened = open(workspace.root, {});
    if (!opened) {
      log::warn("cannot open a saved workspace", {{"reason", opened.error().message()}});
      unopened_.push_back(std::move(workspace));
      continue;
    }
    for (const auto& socket : workspace.sockets) {
      const auto listening = (*opened)->add_listener(socket);
      if (!listening) log::warn("cannot listen at an additional socket", {{"reason", listening.error().message()}});
    }
  }
}

/// One spelling per root: without a trailing slash, `.` and `..`.
std::string Supervisor::normalized(const std::string& root) const {
  return root.starts_with('/') ? config::project_at(root, options_.home).root : root;
}

Result<WorkspaceServer*> Supervisor::open(const std::string& wanted, const std::string& socket) {
  if (ending_) return fail("the daemon is shutting down; start it again with: agent-relay up");
  const std::string root = normalized(wanted);
  system_token_ = RELAY_TRY(config::ensure_system_token(options_.home, random_, system_token_));
  auto found = workspaces_.find(root);
  if (found != workspaces_.end() && found->second->is_closing()) {
    return fail(format("the workspace {} is closing; try again in a moment", root));
  }
  if (found != workspaces_.end()) {
    RELAY_TRY(found->second->restore_sockets());
    RELAY_TRY(found->second->add_listener(socket));
    return found->second.get();
  }
  RELAY_TRY(config::check_trusted(root, options_.home, settings_, config::process_environment()));
  const WorkspaceContext context{options_.home, options_.version, loop_,         network_,
                                 random_,       launcher_,        system_token_, started_};
  auto opened = RELAY_TRY(WorkspaceServer::open(context, settings_, root));
  opened->use_rules(rules_);
  opened->set_attention_sink([this, root](const broker::NotifyUser& request) {
    if (attention_sink_) attention_sink_(request, root);
  });
  RELAY_TRY(opened->add_listener(socket));
  found = workspaces_.emplace(root, std::move(opened)).first;
  drop_unopened(root);
  return found->second.get();
}

void Supervisor::drop_unopened(const std::string& root) {
  std::erase_if(unopened_, [&](const SavedWorkspace& workspace) { return workspace.root == root; });
}

void Supervisor::save_workspaces() {
  std::vector<SavedWorkspace> all;
  for (const auto& [root, workspace] : workspaces_) {
    if (!workspace->is_closing()) all.push_back({root, workspace->additional_sockets()});
  }
  all.insert(all.end(), unopened_.begin(), unopened_.end());
  all.resize(std::min(all.size(), kMaxSavedWorkspaces));
  const auto written = write_saved_workspaces(options_.home.workspaces, all);
  if (!written) log::warn("cannot save the list of open workspaces", {{"reason", written.error().message()}});
}

void Supervisor::open_workspace(const protocol::WorkspaceRequest& request, OnDone done) {
  auto opened = open(request.root, request.socket);
  if (!opened) return done(Failure{std::move(opened).error()});
  save_workspaces();
  done({});
}

void Supervisor::close_workspace(const protocol::WorkspaceRequest& request, OnDone done) {
  const std::string root = normalized(request.root);
  const auto found = workspaces_.find(root);
  if (found == workspaces_.end() || found->second->is_closing()) {
    drop_unopened(root);
    save_workspaces();
    return done(fail(Errc::NotOpen, format("the workspace {} is not open; see: agent-relay status", root)));
  }
  close_workspace_at(root, protocol::kWorkspaceClosed, std::move(done));
  save_workspaces();
}

void Supervisor::close_workspace_at(const std::string& root, std::string_view reason, OnDone done) {
  workspaces_.at(root)->shut_down(
      [this, root, done = std::move(done)]() mutable {
        workspaces_.erase(root);
        log::info("workspace closed", {{"root", root}});
        if (done) done({});
        end_if_empty();
      },
      reason);
}

void Supervisor::use_settings(config::Settings settings) {
  settings_ = std::move(settings);
  for (const auto& [root, workspace] : workspaces_) workspace->use_settings(settings_);
}

void Supervisor::use_rules(Rules rules) {
  rules_ = std::move(rules);
  for (const auto& [root, workspace] : workspaces_) workspace->use_rules(rules_);
}

void Supervisor::begin_shutdown() {
  if (ending_) return;
  ending_ = true;
  notify_stopping();
  log::info("shutting down", {{"workspaces", format("{}", workspaces_.size())}});
  std::vector<std::string> roots;
  for (const auto& [root, workspace] : workspaces_) {
    if (!workspace->is_closing()) roots.push_back(root);
  }
  for (const auto& root : roots) close_workspace_at(root, protocol::kDaemonStopping, nullptr);
  end_if_empty();
}

void Supervisor::end_if_empty() {
  if (!ending_ || !workspaces_.empty() || !on_ended_) return;
  // Posted: the control socket, which closes its clients, may be on the call stack.
  loop_.post([this, done = std::exchange(on_ended_, nullptr)]() mutable {
    control_.close();
    done();
  });
}

std::string Supervisor::describe_workspaces(const Result<void>& outcome) {
  text::JsonWriter json;
  json.field("ok", outcome.has_value());
  if (!outcome) json.field("error", outcome.error().message()).field("code", code_of(outcome.error()));
  json.field("pid", ::getpid()).field("version", options_.version).field("home", options_.home.root);
  json.begin_array("workspaces");
  for (const auto& [root, workspace] : workspaces_) {
    if (workspace->is_closing()) continue;
    if (json.size() > protocol::kMaxResponseBytes) break;  // a response always fits a frame
    const auto roster = workspace->roster();
    const auto connected =
        std::count_if(roster.begin(), roster.end(), [](const auto& entry) { return entry.connected; });
    json.begin_element()
        .field("root", root)
        .field("projectId", workspace->project().id)
        .field("socket", workspace->socket())
        .field("connected", connected)
        .field("known", roster.size())
        .field("storage", workspace->storage())
        .optional("warning", workspace->warning())
        .begin_array("sockets");
    for (const auto& socket : workspace->additional_sockets()) json.element(socket);
    json.end().end();
  }
  json.end();
  return json.take();
}

void Supervisor::report_http(std::string url, std::string error) {
  http_url_ = std::move(url);
  http_error_ = std::move(error);
}

config::Settings Supervisor::settings_in_force(const std::string& root) const {
  const auto found = workspaces_.find(normalized(root));
  auto settings = config::Settings::in_force(
      options_.settings, found == workspaces_.end() ? settings_ : found->second->opened_with(), settings_);
  // These follow the file, not the last load.
  const auto follow = [&](config::Setting setting, std::string_view value) {
    if (!settings.apply_flag(setting, value)) RELAY_ASSERT(false);
  };
  follow(config::Setting::PermissionsPreset,
         rules_.permissions ? rules_.permissions->preset() : permissions::kNoPreset);
  follow(config::Setting::SpawnByAgents,
         broker::name_of(rules_.spawn ? rules_.spawn->by_agents : broker::SpawnByAgents::Off));
  return settings;
}

std::string Supervisor::describe_daemon(const std::string& root) {
  text::JsonWriter json;
  json.field("pid", ::getpid()).field("version", options_.version).field("home", options_.home.root);
  if (!options_.capture_home.empty()) json.field("captureHome", options_.capture_home);
  json.begin_object("http").optional("url", http_url_).optional("error", http_error_).end();
  json.begin_object("settings");
  const auto settings = settings_in_force(root);
  for (const auto& row : config::setting_table()) json.field(row.name, settings.text(row.setting));
  json.end();
  json.begin_array("overridden");  // by this process's environment or flags: config.toml does not change them
  for (const auto& row : config::setting_table())
    if (settings_.source(row.setting) > config::Source::File) json.element(row.name);
  json.end();
  return json.take();
}

std::string Supervisor::reload(const std::string& root) {
  const auto used = settings_in_force(root);
  const auto before = settings_;
  const auto loaded = load_ ? load_() : Result<void>{fail("this daemon has no configuration to load")};
  text::JsonWriter json;
  json.field("success", loaded.has_value());
  if (!loaded) json.field("error", loaded.error().message());
  json.begin_array("changed");
  if (loaded) {
    for (const auto& change : config::changes_on_load(used, before, settings_))
      json.begin_element()
          .field("setting", change.row->name)
          .field("from", change.from)
          .field("to", change.to)
          .field("applies", describe(change.applies))
          .end();
  }
  json.end();
  return json.take();
}

}  // namespace relay::daemon
