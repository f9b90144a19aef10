#include "host/control/host_server.h"

#include <algorithm>

#include "base/format.h"
#include "host/screen/screen_text.h"
#include "protocol/frame.h"
#include "terminal/render.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxTerminalFrameBytes = 64 * 1024;

/// Keys, answers and release control the agent.
bool needs_user(const RequestParams& request) {
  if (const auto* attach = std::get_if<Attach>(&request)) return attach->drive;
  return std::holds_alternative<Input>(request) || std::holds_alternative<Interrupt>(request) ||
         std::holds_alternative<AnswerPrompt>(request) || std::holds_alternative<ReleaseAgent>(request);
}

/// Hooks and fetches act for the agent: fetched messages count as seen by the model.
bool needs_own_agent(const RequestParams& request) {
  if (const auto* fetch = std::get_if<FetchMessages>(&request)) return fetch->take;
  return std::holds_alternative<HookCall>(request);
}

std::string describe_origin(const protocol::PeerOrigin& origin) {
  if (!origin.is_agent()) return "the calling process could not be identified; run it in a shell on this machine";
  return format("this request comes from a process inside {}; ask the user to do it in a shell of their own",
                origin.agent.empty() ? "an agent" : format("the agent {}", origin.agent));
}

/// Why the peer may not make that request; empty when it may.
std::string rejection_reason(const RequestParams& request, const protocol::PeerOrigin& origin,
                             const std::string& agent) {
  if (origin.is_user()) return {};
  if (needs_user(request))
    return format("only the user may type here, answer or end {}, and {}", agent, describe_origin(origin));
  if (needs_own_agent(request) && (!origin.is_agent() || origin.agent != agent))
    return format("only {} itself and the user may fetch its messages and call its hooks, and {}", agent,
                  describe_origin(origin));
  return {};
}

}  // namespace

/// One connection.
class HostServer::Client final : public net::StreamListener {
 public:
  Client(std::uint64_t id, std::unique_ptr<net::Stream> stream, protocol::PeerOrigin origin, HostServer& server)
      : id_{id}, stream_{std::move(stream)}, origin_{std::move(origin)}, server_{server} {
    stream_->start(*this);
  }

  [[nodiscard]] bool attached() const { return attached_ && !is_closed_; }
  [[nodiscard]] bool watches() const { return (watching_ || attached_) && !is_closed_; }
  [[nodiscard]] pty::WindowSize size() const { return size_; }

  /// Disconnects a client that does not read.
  void send_bounded(const std::string& json) {
    if (is_closed_) return;
    if (stream_->bytes_waiting() > 2 * kMaxClientBacklogBytes) return disconnect();  // does not read its responses
    send(json);
  }

  void send_output(std::string_view bytes) {
    if (is_behind_) return catch_up();
    if (stream_->bytes_waiting() + bytes.size() > kMaxClientBacklogBytes) {
      is_behind_ = true;
      return;
    }
    send_terminal(bytes);
  }
  /// Sends the whole screen as soon as the client has read everything.
  void send_screen() {
    is_behind_ = true;
    catch_up();
  }
  /// The agent reads its input again.
  void resume_typing() {
    if (std::exchange(is_reading_paused_, false) && !is_closed_) stream_->resume_reading();
  }

 private:
  void on_bytes(std::string_view bytes) override {
    reader_.push(bytes);
    while (!is_closed_) {
      const auto frame = reader_.next();
      if (!frame) {
        send(error_response({}, {}, frame.error().message()));
        return disconnect();
      }
      if (!*frame) return;
      take(**frame);
    }
  }
  void on_written(std::size_t) override { catch_up(); }
  void on_closed(const std::string&) override { disconnect(); }

  void catch_up() {
    const auto& screen = server_.service_.screen();
    if (!is_behind_ || stream_->bytes_waiting() > 0 || !screen.in_ground_state()) return;
    is_behind_ = false;
    send_terminal(terminal::render(screen));
  }

  void take(std::string_view frame) {
    if (const auto typed = terminal_bytes(frame)) return type(*typed);
    if (stream_->bytes_waiting() > kMaxClientBacklogBytes) return disconnect();  // does not read its responses
    auto request = parse_request(frame);
    if (!request) return send(error_response({}, {}, request.error().message()));
    if (const auto reason = rejection_reason(request->params, origin_, server_.service_.agent()); !reason.empty())
      return send(error_response(request->method, request->id, reason, name_of(protocol::NackCode::Refused)));
    request_ = &*request;
    std::visit([this](const auto& params) { execute(params); }, request->params);
    request_ = nullptr;
  }

  void type(std::string_view bytes) {
    if (!is_driving_) return;
    claim_size();
    server_.service_.client_input(bytes);
    if (!server_.is_backpressured_ || std::exchange(is_reading_paused_, true)) return;
    stream_->pause_reading();  // at most a frame or two were read already
  }

  void execute(const Describe&) {
    auto response = ok_response();
    server_.service_.describe(response);
    send(response.take());
  }
  void execute(const Explain&) {
    auto response = ok_response();
    server_.service_.explain(response);
    response.field("attachedClients", server_.attached_clients());
    send(response.take());
  }
  void execute(const Watch&) {
    watching_ = true;
    send(ok_response().take());
    text::JsonWriter event;
    event.field("event", "state");
    server_.service_.describe_state(event);
    send(event.take());
  }
  /// Rejects the request and returns true when the agent has no terminal.
  bool lacks_terminal() {
    const auto reason = server_.service_.no_terminal_reason();
    if (!reason.empty()) send(error_response(request_->method, request_->id, reason));
    return !reason.empty();
  }
  void execute(const ShowScreen& request) {
    if (lacks_terminal()) return;
    const auto& screen = server_.service_.screen();
    auto response = ok_response();
    response.field("columns", screen.size().columns)
        .field("rows", screen.size().rows)
        .field("row", screen.cursor().row)
        .field("column", screen.cursor().column)
        .field("screen", request.ansi ? terminal::render(screen) : text_of(screen));
    send(response.take());
  }
  void execute(const Attach& request) {
    if (lacks_terminal()) return;
    if (!attached_ && server_.attached_clients() >= kMaxAttached)
      return send(error_response(request_->method, request_->id, format("{} are attached already", kMaxAttached)));
    attached_ = true;
    is_driving_ = request.drive;
    size_ = request.size;
    if (is_driving_) claim_size();
    const auto& screen = server_.service_.screen();
    auto response = ok_response();
    response.field("mode", is_driving_ ? "drive" : "view")
        .field("columns", screen.size().columns)
        .field("rows", screen.size().rows);
    send(response.take());
    send_screen();
  }
  void execute(const Resize& request) {
    size_ = request.size;
    if (is_driving_ && !server_.driving_clients_.empty() && server_.driving_clients_.back() == id_)
      server_.apply_size();
  }
  void execute(const Input& request) {
    if (lacks_terminal()) return;
    if (server_.is_backpressured_)
      return send(error_response(request_->method, request_->id, "the agent does not read its input; try again later"));
    if (!request.text.empty()) {
      return server_.service_.client_text(request.text, [later = later()](const Result<void>& outcome) mutable {
        if (outcome) return later([](Client&, text::JsonWriter&) {});
        later.fail(outcome.error());
      });
    }
    std::string bytes = request.data;
    for (const auto& key : request.keys) bytes += terminal::encode_key(key, server_.service_.screen().modes());
    server_.service_.client_input(bytes);
    send(ok_response().take());
  }
  void execute(const Interrupt&) {
    if (lacks_terminal()) return;
    server_.service_.client_interrupt();
    send(ok_response().take());
  }
  void execute(const HookCall& request) {
    has_pending_hook_ = true;
    server_.service_.hook_called(request.event, id_, [later = later()](const hooks::HookResponse& answer) mutable {
      later([&](Client& client, text::JsonWriter& response) {
        client.has_pending_hook_ = false;
        response.raw("answer", json::serialize(hooks::to_json(answer)));
      });
    });
  }
  void execute(const FetchMessages& request) {
    auto response = ok_response();
    server_.service_.fetch_messages(request, response);
    send(response.take());
  }
  void execute(const ListPrompts&) {
    auto response = ok_response();
    server_.service_.describe_prompts(response);
    send(response.take());
  }
  void execute(const AnswerPrompt& request) {
    server_.service_.answer_prompt(request, [later = later()](const Result<void>& outcome) mutable {
      if (outcome) return later([](Client&, text::JsonWriter&) {});
      later.fail(outcome.error());
    });
  }
  void execute(const ShowDialog& request) {
    server_.service_.show_dialog(request.prompt);
    send(ok_response().take());
  }
  void execute(const ReleaseAgent& request) {
    send(ok_response().take());
    server_.service_.client_release(request);
  }

  /// A response to be sent later, if the client is still connected.
  struct LaterResponse {
    HostServer& server;
    Lifetime::Watch alive;
    std::uint64_t client_id;
    std::string method, request;

    [[nodiscard]] Client* find() const {
      if (!alive) return nullptr;
      const auto found = server.clients_.find(client_id);
      return found == server.clients_.end() ? nullptr : found->second.get();
    }
    template <typename Fill>
    void operator()(Fill&& fill) {
      auto* const client = find();
      if (client == nullptr) return;
      auto response = ok_response(method, request);
      fill(*client, response);
      client->send_bounded(response.take());
    }
    void fail(const Error& error) {
      const auto code = protocol::nack_code_of(error);
      if (auto* const client = find())
        client->send_bounded(error_response(method, request, error.message(), code ? name_of(*code) : ""));
    }
  };
  [[nodiscard]] LaterResponse later() const {
    return {.server = server_,
            .alive = server_.lifetime_.watch(),
            .client_id = id_,
            .method = request_->method,
            .request = request_->id};
  }

  void claim_size() {
    auto& drivers = server_.driving_clients_;
    if (!drivers.empty() && drivers.back() == id_) return;
    std::erase(drivers, id_);
    drivers.push_back(id_);
    server_.apply_size();
  }

  [[nodiscard]] text::JsonWriter ok_response() const { return ok_response(request_->method, request_->id); }
  static text::JsonWriter ok_response(std::string_view method, std::string_view id) {
    text::JsonWriter response;
    response.field("method", method).optional("id", id).field("ok", true);
    return response;
  }
  static std::string error_response(std::string_view method, std::string_view id, std::string_view error,
                                    std::string_view code = {}) {
    text::JsonWriter response;
    response.field("method", method).optional("id", id).field("ok", false).field("error", error).optional("code", code);
    return response.take();
  }

  void send(std::string_view body) {
    if (body.size() > protocol::kMaxFrameBytes)
      return send(
          error_response(request_ != nullptr ? request_->method : "", "", "the response is too large for a frame"));
    std::string framed;
    protocol::append_frame(framed, reader_.style(), body);
    stream_->write(framed);
  }
  void send_terminal(std::string_view bytes) {
    std::string body;
    while (!bytes.empty()) {
      const auto part = bytes.substr(0, kMaxTerminalFrameBytes);
      body.assign(1, kTerminalFrameByte);
      body.append(part);
      send(body);
      bytes.remove_prefix(part.size());
    }
  }
  void disconnect() {
    if (is_closed_) return;
    is_closed_ = true;
    stream_->close(net::Drain::Yes);
    if (std::exchange(has_pending_hook_, false)) server_.service_.hook_disconnected(id_);
    server_.disconnect(id_);
  }

  std::uint64_t id_;
  std::unique_ptr<net::Stream> stream_;
  protocol::PeerOrigin origin_;
  HostServer& server_;
  protocol::FrameReader reader_{kMaxRequestBytes};
  const Request* request_ = nullptr;
  pty::WindowSize size_;
  bool attached_ = false;
  bool is_driving_ = false;
  bool watching_ = false;
  bool is_behind_ = false;          // it lost output and needs the whole screen
  bool is_reading_paused_ = false;  // it typed more than the agent reads
  bool has_pending_hook_ = false;   // its response is pending
  bool is_closed_ = false;
};

HostServer::HostServer(net::EventLoop& loop, net::Network& network, HostService& service)
    : loop_{loop}, network_{network}, service_{service} {}
HostServer::~HostServer() = default;

Result<void> HostServer::listen(const std::string& path) {
  listener_ =
      RELAY_TRY(network_.listen(path, [this](std::unique_ptr<net::Stream> stream) { accept(std::move(stream)); }));
  return {};
}

void HostServer::accept(std::unique_ptr<net::Stream> stream) {
  if (clients_.size() >= kMaxClients) return stream->close(net::Drain::No);
  const auto id = ++last_client_;
  auto origin = origin_of_ ? origin_of_(stream->peer()) : protocol::user_origin();
  clients_.emplace(id, std::make_unique<Client>(id, std::move(stream), std::move(origin), *this));
}

/// A disconnected client may be on the call stack or under iteration, so it is destroyed in a later turn of the loop.
void HostServer::disconnect(std::uint64_t id) {
  leaving_.push_back(id);
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive) destroy_later();
  });
}

void HostServer::destroy_later() {
  for (const auto id : std::exchange(leaving_, {})) {
    clients_.erase(id);
    const bool set_size = !driving_clients_.empty() && driving_clients_.back() == id;
    std::erase(driving_clients_, id);
    if (set_size) apply_size();
  }
}

/// Without a driving client the size stays.
void HostServer::apply_size() {
  if (driving_clients_.empty()) return;
  if (const auto found = clients_.find(driving_clients_.back()); found != clients_.end())
    service_.client_resize(found->second->size());
}

template <typename Predicate>
void HostServer::broadcast(Predicate&& receives, const std::string& event) {
  for (auto& [id, client] : clients_)
    if (receives(*client)) client->send_bounded(event);
}

void HostServer::on_output(std::string_view bytes) {
  for (auto& [id, client] : clients_)
    if (client->attached()) client->send_output(bytes);
}

void HostServer::on_resized() {
  const auto size = service_.screen().size();
  text::JsonWriter event;
  event.field("event", "resized").field("columns", size.columns).field("rows", size.rows);
  broadcast([](const Client& client) { return client.attached(); }, event.take());
  for (auto& [id, client] : clients_)
    if (client->attached()) client->send_screen();
}

void HostServer::on_state() {
  text::JsonWriter event;
  event.field("event", "state");
  service_.describe_state(event);
  broadcast([](const Client& client) { return client.watches(); }, event.take());
}

void HostServer::on_command_sent(std::string_view to, std::string_view kind) {
  text::JsonWriter event;
  event.field("event", "sent").field("to", to).field("kind", kind);
  broadcast([](const Client& client) { return client.watches(); }, event.take());
}

void HostServer::on_event(const std::string& event) {
  broadcast([](const Client& client) { return client.watches(); }, event);
}

void HostServer::on_backpressure(bool active) {
  is_backpressured_ = active;
  if (!active)
    for (auto& [id, client] : clients_) client->resume_typing();
}

void HostServer::on_exit(int code) {
  text::JsonWriter event;
  event.field("event", "exit").field("code", code);
  broadcast([](const Client& client) { return client.watches(); }, event.take());
  listener_.reset();
}

std::size_t HostServer::attached_clients() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(clients_, [](const auto& entry) { return entry.second->attached(); }));
}

}  // namespace relay::host
