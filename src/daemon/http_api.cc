#include "daemon/http_api.h"

#include <unistd.h>

#include "api/http/server.h"
#include "base/format.h"
#include "base/log.h"
#include "config/system_token.h"
#include "daemon/http_callers.h"
#include "daemon/prices.h"
#include "daemon/private_file.h"

namespace relay::daemon {
namespace {

api::ServerOptions options_for(const DaemonOptions& options) {
  api::ServerOptions made;
  made.policy = {.address = api::normalize_address(options.settings.http_address()),
                 .port = static_cast<std::uint16_t>(options.settings.dashboard_port()),
                 .token = options.api_token,
                 .owner = ::geteuid(),
                 .origins = options.settings.http_origins()};
  made.control_socket = config::socket_to_connect(options.home.daemon_socket);
  made.hosts_of = [home = options.home](const std::string& root) { return config::project_at(root, home).hosts; };
  made.facts = {.version = options.version,
                .origin_of = [callers = std::make_shared<HttpCallers>(options.home)](
                                 const net::HttpPeer& peer) { return callers->classify(peer); },
                .system_token = [home = options.home] { return config::read_system_token(home); },
                .prices = [path = options.home.root + "/cost-models.json"] { return load_prices(path); }};
  return made;
}

}  // namespace

Result<void> HttpApi::check(const DaemonOptions& options) {
  if (options.settings.dashboard_port() == 0) return {};
  return api::check_access_policy(options_for(options).policy);
}

std::unique_ptr<HttpApi> HttpApi::start(const DaemonOptions& options) {
  std::unique_ptr<HttpApi> http{new HttpApi};
  ::unlink(options.home.http_file.c_str());  // of a daemon that was killed
  if (options.settings.dashboard_port() == 0) return http;
  auto server = api::Server::start(options_for(options));
  if (!server) {
    log::warn("the HTTP API is not served", {{"reason", server.error().message()}});
    http->error_ = server.error().message();
    return http;
  }
  http->server_ = *std::move(server);
  http->file_ = options.home.http_file;
  const json::object address = {
      {"url", http->server_->url()}, {"pid", ::getpid()}, {"token", !options.api_token.empty()}};
  if (auto written = replace_private_file(http->file_, json::serialize(address) + "\n"); !written)
    log::warn(written.error().message());
  log::info("the HTTP API is served", {{"url", http->server_->url()}});
  return http;
}

std::string HttpApi::url() const { return server_ ? server_->url() : std::string{}; }

HttpApi::~HttpApi() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

void HttpApi::begin_stop() {
  if (server_) server_->begin_stop();
}

}  // namespace relay::daemon
