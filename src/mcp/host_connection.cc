#include "mcp/host_connection.h"

#include "base/format.h"
#include "client/errors.h"

namespace relay::mcp {

HostConnection::HostConnection(net::EventLoop& loop, net::Network& network, std::string path, OnEvent on_event,
                               OnLost on_lost)
    : loop_{loop},
      network_{network},
      path_{std::move(path)},
      on_event_{std::move(on_event)},
      on_lost_{std::move(on_lost)} {}

HostConnection::~HostConnection() = default;

void HostConnection::connect() {
  if (state_ != State::Closed) return;
  state_ = State::Connecting;
  network_.connect(path_, [this, alive = lifetime_.watch()](Result<std::unique_ptr<net::Stream>> stream) {
    if (alive) on_connected(std::move(stream));
  });
}

void HostConnection::on_connected(Result<std::unique_ptr<net::Stream>> stream) {
  if (!stream) return lose(client::connect_reason(stream.error()));
  state_ = State::Open;
  reader_ = protocol::FrameReader{};
  stream_ = *std::move(stream);
  stream_->start(*this);
  json::object watch;
  watch["method"] = "watch";
  write(watch);
  for (const auto& request : std::exchange(queued_, {})) write(request);
}

void HostConnection::write(const json::object& request) {
  std::string bytes;
  protocol::append_frame(bytes, reader_.style(), json::serialize(request));
  stream_->write(bytes);
}

void HostConnection::request(json::object request, Millis timeout, OnReply on_reply) {
  if (open_.size() >= kMaxRequests) return on_reply(fail("too many requests to the agent's host are open; try again"));
  const auto id = format("m{}", ++last_id_);
  request["id"] = id;
  open_.emplace(id, PendingRequest{std::move(on_reply), loop_.after(timeout, [this, id] {
                                     complete(id, fail("the agent's host did not respond in time; try again"));
                                   })});
  if (state_ == State::Open) return write(request);
  queued_.push_back(std::move(request));
  connect();
}

void HostConnection::complete(const std::string& id, Result<json::object> reply) {
  const auto at = open_.find(id);
  if (at == open_.end()) return;
  auto query = std::move(open_.extract(at).mapped());
  query.on_reply(std::move(reply));
}

void HostConnection::on_bytes(std::string_view bytes) {
  const auto alive = lifetime_.watch();
  reader_.push(bytes);
  while (alive && state_ == State::Open) {
    const auto frame = reader_.next();
    if (!frame) return lose(frame.error().message());
    if (!*frame) return;
    if (!(*frame)->starts_with('{')) continue;  // terminal output, which was not requested
    const auto object = parse_json_object(**frame);
    if (!object) return lose(object.error().message());
    on_frame(*object);
  }
}

void HostConnection::on_frame(const json::object& frame) {
  if (!frame.contains("ok")) return on_event_(frame);
  const auto id = string_member(frame, "id").value_or("");
  if (bool_member(frame, "ok").value_or(false)) return complete(id, frame);
  complete(id, fail(string_member(frame, "error").value_or("the agent's host rejected the request without a reason")));
}

void HostConnection::lose(const std::string& reason) {
  state_ = State::Closed;
  if (stream_) stream_->close(net::Drain::No);
  stream_.reset();
  queued_.clear();
  const auto error =
      format("cannot reach the host of this agent: {}; list running agents with: agent-relay agents", reason);
  const auto alive = lifetime_.watch();
  for (auto& [id, query] : std::exchange(open_, {}))
    if (alive) query.on_reply(fail(error));
  if (alive) on_lost_(error);
}

}  // namespace relay::mcp
