#include "api/client/socket_workspace_client.h"

#include "base/format.h"
#include "base/log.h"
#include "protocol/requests.h"

namespace relay::api {
namespace {

using client::Errc;
using protocol::MessageType;

constexpr Millis kDefaultTimeout{5'000};
constexpr Millis kFeedRetryDelay{1'000};  // after the daemon stopped the link

/// A little more than the daemon's own limits (wire.md 10.4), so that its error arrives before this timeout.
Millis timeout_for(MessageType type) {
  if (type == MessageType::Spawn || type == MessageType::Answer)
    return Millis{35'000};  // the answer may approve a spawn
  if (type == MessageType::Release) return Millis{20'000};
  if (type == MessageType::SendInput) return Millis{15'000};
  return kDefaultTimeout;
}

client::LinkOptions options_for(const std::string& socket) {
  client::LinkOptions options;
  options.socket_path = socket;
  options.hello.agent = "cli";
  options.hello.system_component = true;
  options.timeout = client::RetryLimit::never_give_up();
  return options;
}

ApiError api_error_of_nack(const json::object& nack) {
  auto error = api_error_by_code(string_member(nack, "code").value_or(""), string_member(nack, "message").value_or(""));
  if (const auto after = integer_member(nack, "retry_after_ms"); after && *after > 0)
    error.retry_after = Millis{*after};
  return error;
}

}  // namespace

class SocketWorkspaceClient::ManagedLink final : private client::LinkListener {
 public:
  using Ready = std::function<void(const client::Session&)>;
  using Lost = std::function<void(const std::string&)>;
  using Frame = std::function<void(const protocol::Envelope&)>;
  using Stopped = std::function<void()>;

  ManagedLink(net::EventLoop& loop, net::Network& network, Random& random, const std::string& socket, Ready ready,
              Lost lost, Frame frame, Stopped stopped)
      : ready_{std::move(ready)},
        lost_{std::move(lost)},
        frame_{std::move(frame)},
        stopped_{std::move(stopped)},
        outbox_{client::Numbering::RandomIds, {}, random},
        link_{loop, network, random, outbox_, options_for(socket), *this} {
    link_.start();
  }
  ~ManagedLink() override { end(); }

  /// Stops the link; no callback runs afterwards.
  void end() {
    if (!std::exchange(ended_, true)) link_.stop();
  }

  client::Link* operator->() { return &link_; }

 private:
  void on_ready(const client::Session& session) override { ready_(session); }
  void on_lost(const std::string& reason, Millis) override { lost_(reason); }
  void on_stopped(const Error& error) override {
    ended_ = true;
    lost_(error.message());
    stopped_();
  }
  client::AckMode on_incoming(const client::IncomingMessage&) override { return client::AckMode::Now; }
  void on_sent(const std::string&) override {}
  void on_refused(const std::string&, const protocol::Nack&) override {}
  void on_frame(const protocol::Envelope& envelope) override { frame_(envelope); }

  Ready ready_;
  Lost lost_;
  Frame frame_;
  Stopped stopped_;
  bool ended_ = false;
  client::Outbox outbox_;
  client::Link link_;
};

SocketWorkspaceClient::SocketWorkspaceClient(net::EventLoop& loop, net::Network& network, Random& random,
                                             WorkspaceLocation location)
    : loop_{loop}, network_{network}, random_{random}, location_{std::move(location)} {}

SocketWorkspaceClient::~SocketWorkspaceClient() {
  lifetime_.end();
  request_link_.reset();
  feed_link_.reset();
  const auto closed_error = [] { return fail(Errc::Lost, "the workspace was closed"); };
  for (auto all = std::exchange(requests_, {}); auto& [number, request] : all) request.on_response(closed_error());
  for (auto all = std::exchange(sends_, {}); auto& [number, send] : all) {
    send.call.reset();
    send.on_stored(std::unexpected{to_api_error(closed_error().error())});
  }
}

void SocketWorkspaceClient::request(MessageType type, json::object payload, OnResponse on_response) {
  const auto number = ++last_number_;
  if (requests_.size() >= kMaxRequests)
    return loop_.post([on_response = std::move(on_response)]() mutable {
      on_response(fail(Errc::Full, format("{} requests to the daemon are pending already; try again", kMaxRequests)));
    });
  auto text = json::serialize(payload);
  if (text.size() > protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes)
    return loop_.post([on_response = std::move(on_response)]() mutable {
      on_response(fail(Errc::TooLarge, format("the request is too large; the daemon accepts {} bytes",
                                              protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes)));
    });
  auto& request = requests_[number];
  request.type = type;
  request.payload = std::move(text);
  request.on_response = std::move(on_response);
  request.deadline = loop_.after(timeout_for(type), [this, number] {
    std::erase(queued_, number);
    complete(number, fail(Errc::TimedOut, "the daemon did not respond in time; try again"));
  });
  queued_.push_back(number);
  if (request_link_ && disconnected_) (*request_link_)->retry_now();  // a caller blocks on it: skip the back-off
  if (!request_link_) open_request_link();
  send_queued();
}

/// A link that the daemon stopped does not reconnect. The next request opens a new one.
void SocketWorkspaceClient::open_request_link() {
  request_link_ = std::make_unique<ManagedLink>(
      loop_, network_, random_, location_.socket, [this](const client::Session& session) { on_ready(session); },
      [this](const std::string& reason) { on_disconnected(reason); }, [](const protocol::Envelope&) {},
      [this] {
        loop_.post([this, alive = lifetime_.watch()] {
          if (!alive) return;
          request_link_.reset();
          if (!queued_.empty()) open_request_link();
        });
      });
}

void SocketWorkspaceClient::on_ready(const client::Session& session) {
  disconnected_ = false;
  (void)detect_new_store(session);
  send_queued();
}

void SocketWorkspaceClient::on_disconnected(const std::string& reason) {
  disconnected_ = true;
  for (const auto number : std::exchange(queued_, {}))
    complete(number, fail(Errc::Lost, format("cannot reach the workspace ({}); try again", reason)));
}

void SocketWorkspaceClient::send_queued() {
  while (!queued_.empty() && (*request_link_)->ready() && in_flight_ < client::kMaxPendingRequests) {
    const auto number = queued_.front();
    queued_.pop_front();
    send_request(number);
  }
}

void SocketWorkspaceClient::send_request(std::uint64_t number) {
  auto& request = requests_.at(number);
  request.deadline.reset();
  ++in_flight_;
  const auto timeout = timeout_for(request.type);
  const auto on_envelope = [this, number, alive = lifetime_.watch()](Result<const protocol::Envelope*> envelope) {
    if (!alive) return;
    --in_flight_;
    if (envelope)
      complete(number, parse_json_object((*envelope)->payload));
    else
      complete(number, Failure{std::move(envelope).error()});
    if (alive && request_link_) send_queued();
  };
  (*request_link_)->request(request.type, request.payload, on_envelope, timeout);
}

void SocketWorkspaceClient::complete(std::uint64_t number, Result<json::object> result) {
  auto node = requests_.extract(number);  // extract first: the callback may send another request
  if (!node.empty()) node.mapped().on_response(std::move(result));
}

void SocketWorkspaceClient::send(OutgoingMessage message, OnStored on_stored) {
  const auto refuse = [&](ApiError error) {
    loop_.post([on_stored = std::move(on_stored), error = std::move(error)]() mutable {
      on_stored(std::unexpected{std::move(error)});
    });
  };
  if (sends_.size() >= kMaxSends)
    return refuse(api_error_by_code("BUSY", "too many messages are being sent at once; try again"));
  auto encoded = protocol::encode_send(message.send);
  if (!encoded) return refuse(to_api_error(encoded.error()));
  const auto number = ++last_number_;
  sends_[number] = {.call = nullptr,
                    .request = {.type = MessageType::Send,
                                .id = std::move(message.id),
                                .from = std::move(message.from),
                                .to = std::move(message.send.to),
                                .topic = std::move(message.send.topic),
                                .claim_token = std::move(message.claim_token),
                                .payload = std::move(encoded->payload),
                                .payload_meta = std::move(encoded->payload_meta)},
                    .on_stored = std::move(on_stored)};
  start_send(number);
}

void SocketWorkspaceClient::start_send(std::uint64_t number) {
  auto& send = sends_.at(number);
  send.call = std::make_unique<client::DaemonCall>(
      loop_, network_, location_.socket, send.request,
      [this, number](Result<client::DaemonResponse> result) { on_sent(number, std::move(result)); });
  send.call->start();
}

void SocketWorkspaceClient::on_sent(std::uint64_t number, Result<client::DaemonResponse> result) {
  auto& send = sends_.at(number);
  if (!result && is(result.error(), Errc::Lost) && !std::exchange(send.retried, true))
    return loop_.post([this, number, alive = lifetime_.watch()] {
      if (alive && sends_.contains(number)) start_send(number);
    });
  const auto node = sends_.extract(number);  // destroys the call when this callback returns
  auto on_stored = std::move(send.on_stored);
  if (!result) return on_stored(std::unexpected{to_api_error(result.error())});
  auto payload = parse_json_object(result->payload);
  if (!payload) return on_stored(std::unexpected{to_api_error(payload.error())});
  if (result->type == MessageType::Nack) return on_stored(std::unexpected{api_error_of_nack(*payload)});
  on_stored(*std::move(payload));
}

void SocketWorkspaceClient::follow(std::uint64_t after, EventListener* listener) {
  listener_ = listener;
  last_seq_ = after;
  if (listener == nullptr) {
    feed_retry_.reset();
    if (!feed_link_) return;
    feed_link_->end();
    return loop_.post([feed = std::move(feed_link_)] {});  // this may run inside one of its callbacks
  }
  if (feed_link_) return on_feed_ready();
  open_feed_link();
}

void SocketWorkspaceClient::open_feed_link() {
  feed_link_ = std::make_unique<ManagedLink>(
      loop_, network_, random_, location_.socket,
      [this](const client::Session& session) {
        if (!detect_new_store(session)) on_feed_ready();
      },
      [this](const std::string& reason) {
        if (listener_ != nullptr) listener_->on_disconnected(reason);
      },
      [this](const protocol::Envelope& envelope) { on_feed_frame(envelope); },
      [this] {
        feed_retry_ = loop_.after(kFeedRetryDelay, [this] {
          feed_link_.reset();
          if (listener_ != nullptr) open_feed_link();
        });
      });
}

/// True when WELCOME names another store. The listener was notified and follows again.
bool SocketWorkspaceClient::detect_new_store(const client::Session& session) {
  const auto previous = std::exchange(store_id_, session.store_id.empty() ? store_id_ : session.store_id);
  if (previous.empty() || previous == store_id_ || listener_ == nullptr) return false;
  listener_->on_log_replaced();
  return true;
}

void SocketWorkspaceClient::on_feed_ready() {
  if (!(*feed_link_)->ready()) return;
  const auto sent = (*feed_link_)->send_frame(MessageType::EventsSubscribe, format(R"({{"since":{}}})", last_seq_));
  if (!sent) log::warn("cannot subscribe to events", {{"error", sent.error().message()}});
}

void SocketWorkspaceClient::on_feed_frame(const protocol::Envelope& envelope) {
  if (envelope.type != MessageType::AgentEvent || listener_ == nullptr) return;
  const auto event = protocol::parse_agent_event(envelope.payload);
  const auto object = event ? parse_json_object(*event) : Result<json::object>{Failure{event.error()}};
  const auto number = object ? integer_member(*object, "_seq") : std::nullopt;
  if (!number || *number <= 0 || static_cast<std::uint64_t>(*number) <= last_seq_) return;
  last_seq_ = static_cast<std::uint64_t>(*number);
  listener_->on_event(last_seq_, *event);
}

}  // namespace relay::api
