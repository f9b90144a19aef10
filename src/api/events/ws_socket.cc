#include "api/events/ws_socket.h"

#include <algorithm>

#include "base/format.h"
#include "host/control/running_hosts.h"
#include "text/json_writer.h"

namespace relay::api {
namespace {

using text::JsonWriter;

constexpr std::uint16_t kTryAgainLater = 1013;
constexpr std::uint16_t kPolicyViolation = 1008;

json::array list_of(const json::object& object, std::string_view name) {
  const auto* const list = array_member(object, name);
  return list == nullptr ? json::array{} : *list;
}

/// The newest host of that agent.
std::optional<host::HostRecord> host_of(const std::string& directory, std::string_view agent) {
  std::optional<host::HostRecord> found;
  for (auto& record : host::running_hosts(directory))
    if (record.name == agent) found = std::move(record);
  return found;
}

}  // namespace

/// Sends one agent's terminal as messages.
class LiveSocket::Screen final : public ScreenListener {
 public:
  Screen(LiveSocket& socket, const host::HostRecord& host)
      : socket_{socket}, agent_{host.name}, watch_{socket.owner_.network_, host.name, host.socket, *this} {}

  void resume() { watch_.resume(); }

 private:
  void on_screen(int columns, int rows, std::string_view text) override {
    socket_.send(JsonWriter{}
                     .field("type", "screen")
                     .field("agent", agent_)
                     .field("columns", columns)
                     .field("rows", rows)
                     .field("ansi", text)
                     .take());
    pause_if_backlogged();
  }
  void on_output(std::string_view text) override {
    socket_.send(JsonWriter{}.field("type", "output").field("agent", agent_).field("data", text).take());
    pause_if_backlogged();
  }
  void on_ended(const std::string& reason) override {
    const auto self = socket_.screens_.extract(agent_);  // destroyed when this returns
    socket_.send(JsonWriter{}.field("type", "screen-closed").field("agent", agent_).field("reason", reason).take());
  }
  /// Stops reading the terminal while the client has a backlog.
  void pause_if_backlogged() {
    if (socket_.waiting_bytes() >= socket_.owner_.limits_.waiting_bytes) watch_.pause();
  }

  LiveSocket& socket_;
  std::string agent_;
  ScreenWatch watch_;
};

LiveSocket::~LiveSocket() = default;

bool LiveSocket::open(net::ResponseWriter reply) {
  auto socket = reply.accept_websocket(*this);
  if (!socket) return false;
  socket_ = *std::move(socket);
  owner_.feed_.when_following(if_alive(&LiveSocket::on_newest));
  return true;
}

void LiveSocket::close(std::uint16_t code, const std::string& reason) {
  socket_.close(code, reason);
  owner_.remove(*this);
}

void LiveSocket::end(std::uint64_t after, const std::string& reason) {
  send(resume_text(StreamFormat::WebSocket, after, reason));
  close(kTryAgainLater, format("resume after {}", after));
}

// ---- the snapshot

void LiveSocket::on_newest(const Result<std::uint64_t>& newest) {
  if (!newest) return close(kTryAgainLater, newest.error().message());
  after_ = *newest;
  owner_.workspace_.request(protocol::MessageType::ListAgents, {{"includeIdle", true}},
                            if_alive(&LiveSocket::on_agents));
}

void LiveSocket::on_agents(const Result<json::object>& response) {
  if (!response) return close(kTryAgainLater, response.error().message());
  snapshot_ = {{"type", "snapshot"},
               {"workspace", json::object{{"id", owner_.workspace_.id()}, {"root", owner_.workspace_.root()}}},
               {"agents", list_of(*response, "agents")}};
  if (bool_member(*response, "more").value_or(false)) snapshot_["more"] = true;
  owner_.workspace_.request(protocol::MessageType::Prompts, {}, if_alive(&LiveSocket::on_prompts));
}

/// A workspace that does not answer this request has no prompts to show.
void LiveSocket::on_prompts(const Result<json::object>& response) {
  const auto& prompts = response ? *response : json::object{};
  snapshot_["permissions"] = list_of(prompts, "permissions");
  snapshot_["questions"] = list_of(prompts, "questions");
  owner_.feed_.when_following([weak = std::weak_ptr{self_}](const Result<std::uint64_t>& newest) {
    const auto self = weak.lock();
    if (!self) return;
    if (!newest) return (*self)->close(kTryAgainLater, newest.error().message());
    (*self)->send_snapshot();
  });
}

void LiveSocket::send_snapshot() {
  snapshot_["newest"] = after_;
  send(json::serialize(std::exchange(snapshot_, {})));
  snapshot_sent_ = true;
  start_reader();
}

// ---- events

/// The start is a number of this log, so events that were pruned since are reported as a gap.
void LiveSocket::start_reader() {
  position_.reset();
  after_ = subscription_.after.value_or(after_);
  subscription_.after = after_;
  position_ = owner_.feed_.open_reader(subscription_, after_, StreamFormat::WebSocket, *this);
  subscription_.after.reset();
  if (!position_) close(kTryAgainLater, "too many clients are already reading events; try again later");
}

void LiveSocket::execute(const SubscribeRequest& request) {
  subscription_ = request.subscription;
  if (!snapshot_sent_) return;  // applied when the snapshot is sent
  after_ = position_->cursor();
  send(JsonWriter{}.field("type", "subscribed").field("after", subscription_.after.value_or(after_)).take());
  start_reader();
}

// ---- terminals

void LiveSocket::execute(const WatchRequest& request) {
  screens_.erase(request.agent);  // watching again starts with a whole screen
  if (screens_.size() >= owner_.limits_.screens)
    return send_error(format("{} terminals are watched already; unwatch one first", screens_.size()));
  const auto host = host_of(owner_.workspace_.hosts(), request.agent);
  if (!host)
    return send(JsonWriter{}
                    .field("type", "screen-closed")
                    .field("agent", request.agent)
                    .field("reason", format("{} has no terminal on this machine", request.agent))
                    .take());
  screens_.emplace(request.agent, std::make_unique<Screen>(*this, *host));
}

void LiveSocket::execute(const UnwatchRequest& request) {
  if (screens_.erase(request.agent) == 0) send_error(format("the terminal of {} is not watched", request.agent));
}

// ---- the client

void LiveSocket::on_text(std::string_view text) {
  if (waiting_bytes() > owner_.limits_.unread_bytes)
    return close(kPolicyViolation, "the client sends requests but does not read responses");
  const auto request = read_socket_request(text);
  if (!request) return send_error(request.error().message());
  std::visit([this](const auto& subscription) { execute(subscription); }, *request);
}

void LiveSocket::on_drained() {
  if (position_) position_->on_drained();
  for (const auto& [agent, screen] : screens_) screen->resume();
}

void LiveSocket::on_closed(const std::string&) { owner_.remove(*this); }

void LiveSocket::send_error(std::string_view message) {
  send(JsonWriter{}.field("type", "error").field("message", message).take());
}

void LiveSocket::send(std::string json) { write(net::make_shared_buffer(std::move(json))); }

// ---- LiveSockets

LiveSockets::LiveSockets(net::Network& network, WorkspaceClient& workspace, Feed& feed, SocketLimits limits)
    : network_{network}, workspace_{workspace}, feed_{feed}, limits_{limits} {}

LiveSockets::~LiveSockets() { close("the workspace was closed"); }

void LiveSockets::open(Call call) {
  if (sockets_.size() >= limits_.sockets)
    return call.refuse(
        {503, "BUSY", format("{} sockets are open already; try again later", limits_.sockets), kStreamRetryAfter});
  if (!net::requests_websocket(call.request()))
    return call.refuse({426, "UPGRADE_REQUIRED", "this path serves only WebSocket; request an upgrade", {}});
  if (!net::websocket_key(call.request())) return call.refuse(bad_request("the handshake is not WebSocket version 13"));
  auto reply = call.take_reply();
  if (!reply) return;
  auto socket = std::make_unique<LiveSocket>(*this);
  auto& opened = *socket;
  sockets_.emplace(&opened, std::move(socket));
  if (!opened.open(*std::move(reply))) remove(opened);
}

void LiveSockets::remove(const LiveSocket& socket) {
  const auto node = sockets_.extract(&socket);  // may be the caller: destroyed when this returns
  (void)node;
}

void LiveSockets::close(const std::string& reason) {
  while (!sockets_.empty()) sockets_.begin()->second->close(net::WebSocket::kGoingAway, reason);
}

}  // namespace relay::api
