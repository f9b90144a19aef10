#include "daemon/control_socket.h"

#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "protocol/send.h"
#include "text/json_writer.h"

namespace relay::daemon {

using protocol::MessageType;

namespace {

std::string member_of(std::string_view payload, std::string_view name) {
  const auto object = parse_json_object(payload);
  return object ? string_member(*object, name).value_or("") : std::string{};
}

}  // namespace

ControlSocket::~ControlSocket() = default;

Result<void> ControlSocket::listen(net::Network& network, const std::string& path) {
  listener_ =
      RELAY_TRY(network.listen(path, [this](std::unique_ptr<net::Stream> stream) { accept(std::move(stream)); }));
  return {};
}

void ControlSocket::close() {
  listener_.reset();
  for (auto& [id, client] : clients_) client.connection->close(net::Drain::Yes);
  clients_.clear();
}

void ControlSocket::accept(std::unique_ptr<net::Stream> stream) {
  const ConnectionId id{++last_id_};
  auto& client = clients_[id];
  client.origin = origin_of_(stream->peer());
  ConnectionOwner& owner = *this;
  client.connection = std::make_unique<FrameConnection>(id, std::move(stream), owner);
  client.connection->start();
  restart_idle_timeout(id);
}

void ControlSocket::restart_idle_timeout(ConnectionId id) {
  clients_.at(id).idle_timeout = loop_.after(kControlIdleTimeout, [this, id] {
    clients_.at(id).connection->close(net::Drain::Yes);
    destroy_later(id);
  });
}

void ControlSocket::on_frame(ConnectionId from, std::string_view body) {
  restart_idle_timeout(from);
  const auto envelope = protocol::parse_envelope(body);
  if (envelope) return handle(from, *envelope);
  const bool may_continue = is(envelope.error(), protocol::Errc::UnknownType);
  send_error(from, envelope.error().message(), may_continue ? net::Drain::No : net::Drain::Yes);
}

void ControlSocket::handle(ConnectionId from, const protocol::Envelope& envelope) {
  switch (envelope.type) {
    case MessageType::WorkspaceList: return respond(from, std::string{envelope.id}, {});
    case MessageType::Status:
      return respond_with(from, MessageType::StatusResponse, envelope.id,
                          handler_.describe_daemon(member_of(envelope.payload, "root")));
    case MessageType::Control:
      if (member_of(envelope.payload, "action") != "reload")
        return send_error(from, "the daemon's control socket has one action: reload", net::Drain::No);
      return respond_with(from, MessageType::ControlResult, envelope.id,
                          reload(from, member_of(envelope.payload, "root")));
    case MessageType::Shutdown: {
      const auto allowed = check_user(from, "end the daemon");
      respond(from, std::string{envelope.id}, allowed);
      if (allowed) handler_.begin_shutdown();
      return;
    }
    case MessageType::WorkspaceOpen:
    case MessageType::WorkspaceClose: {
      auto done = respond_later(from, envelope.id);
      const auto request = protocol::parse_workspace(envelope.payload);
      if (!request) return done(fail(protocol::NackCode::BadRequest, request.error().message()));
      if (envelope.type == MessageType::WorkspaceOpen) return handler_.open_workspace(*request, std::move(done));
      if (auto allowed = check_user(from, "close a workspace"); !allowed) return done(std::move(allowed));
      return handler_.close_workspace(*request, std::move(done));
    }
    default:  // every other type gets the same response
      return send_error(from,
                        format("{} is not supported here: this is the daemon's control socket; agents connect to their "
                               "workspace's relay.sock",
                               protocol::name_of(envelope.type)),
                        net::Drain::No);
  }
}

Result<void> ControlSocket::check_user(ConnectionId from, std::string_view action) const {
  auto reason = protocol::user_only_reason(action, clients_.at(from).origin);
  if (reason.empty()) return {};
  return fail(protocol::NackCode::Refused, std::move(reason));
}

std::string ControlSocket::reload(ConnectionId from, const std::string& root) {
  const auto allowed = check_user(from, "make the daemon reload its configuration");
  if (allowed) return handler_.reload(root);
  log::warn("request refused", {{"reason", allowed.error().message()}});
  text::JsonWriter refused;
  refused.field("success", false)
      .field("error", allowed.error().message())
      .field("code", name_of(protocol::NackCode::Refused));
  return refused.take();
}

OnDone ControlSocket::respond_later(ConnectionId to, std::string_view request_id) {
  return [this, alive = lifetime_.watch(), to, id = std::string{request_id}](Result<void> outcome) {
    if (alive) respond(to, id, outcome);
  };
}

void ControlSocket::respond(ConnectionId to, const std::string& request_id, const Result<void>& outcome) {
  if (!outcome) log::warn("request refused", {{"reason", outcome.error().message()}});
  respond_with(to, MessageType::WorkspaceResponse, request_id, handler_.describe_workspaces(outcome));
}

void ControlSocket::respond_with(ConnectionId to, MessageType type, std::string_view request_id,
                                 std::string_view payload) {
  send(to, protocol::write_envelope(
               {.type = type, .id = std::string{request_id}, .ts = loop_.now().wall, .payload = std::string{payload}}));
}

/// `end` is Yes when the connection cannot continue.
void ControlSocket::send_error(ConnectionId to, std::string_view message, net::Drain end) {
  const bool fatal = end == net::Drain::Yes;
  const std::string payload = protocol::write_error(protocol::ErrorCode::BadRequest, message,
                                                    fatal ? protocol::Fatal::Yes : protocol::Fatal::No);
  send(to, protocol::write_envelope({.type = MessageType::Error,
                                     .id = format("control-{}", to.value()),
                                     .ts = loop_.now().wall,
                                     .payload = payload}));
  const auto found = clients_.find(to);
  if (!fatal || found == clients_.end()) return;
  found->second.connection->close(net::Drain::Yes);
  destroy_later(to);
}

void ControlSocket::send(ConnectionId to, std::string_view body) {
  const auto found = clients_.find(to);
  if (found == clients_.end()) return;
  if (found->second.connection->bytes_waiting() <= kMaxControlOutputBytes) return found->second.connection->send(body);
  found->second.connection->close(net::Drain::No);  // sends requests and never reads the responses
  destroy_later(to);
}

void ControlSocket::on_bad_stream(ConnectionId from, std::string_view reason) {
  send_error(from, reason, net::Drain::Yes);
}

void ControlSocket::on_closed(ConnectionId id, const std::string&) { destroy_later(id); }

void ControlSocket::destroy_later(ConnectionId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  closing_.push_back(std::move(found->second.connection));
  clients_.erase(found);
  if (closing_.size() > 1) return;
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive) closing_.clear();
  });
}

}  // namespace relay::daemon
