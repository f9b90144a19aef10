#include "host/control/host_call.h"

#include "base/format.h"
#include "base/json.h"
#include "net/unix_address.h"
#include "protocol/send.h"

namespace relay::host {
namespace {

constexpr int kMaxRechecks = 4;
constexpr Millis kRecheckInterval{50};

}  // namespace

HostCall::HostCall(net::EventLoop& loop, net::Network& network, HostCallRequest request, Done done)
    : loop_{loop}, network_{network}, request_{std::move(request)}, done_{std::move(done)} {
  timer_ = loop_.after(request_.timeout, [this] { on_timeout(); });
  network_.connect(request_.socket, [this, alive = lifetime_.watch()](Result<std::unique_ptr<net::Stream>> stream) {
    if (alive) on_connected(std::move(stream));
  });
}

HostCall::~HostCall() = default;

void HostCall::on_connected(Result<std::unique_ptr<net::Stream>> stream) {
  if (stream) {
    stream_ = *std::move(stream);
    stream_->start(*this);
    std::string frame;
    protocol::append_frame(frame, protocol::HeaderStyle::Four, request_.body);
    return stream_->write(frame);
  }
  const bool ended = is(stream.error(), net::Errc::ConnectionRefused);
  if (ended && request_.until == CallUntil::HostEnd) return finish(json::object{});
  finish(ended ? fail(format("{} has ended", request_.agent)) : Failure{std::move(stream).error()});
}

void HostCall::on_bytes(std::string_view bytes) {
  reader_.push(bytes);
  const auto alive = lifetime_.watch();
  while (alive) {
    const auto frame = reader_.next();
    if (!frame)
      return finish(
          fail(format("cannot parse a frame from the host of {}: {}", request_.agent, frame.error().message())));
    if (!*frame) return;
    if (!answered_) on_response(**frame);
  }
}

void HostCall::on_response(std::string_view frame) {
  auto response = parse_json_object(frame);
  if (!response || !response->contains("method")) return;  // an event
  answered_ = true;
  if (!bool_member(*response, "ok").value_or(false)) {
    auto error = string_member(*response, "error").value_or(format("{} refused", request_.agent));
    const auto code = protocol::parse_nack_code(string_member(*response, "code").value_or(""));
    return finish(code ? fail(*code, std::move(error)) : fail(std::move(error)));
  }
  if (request_.until == CallUntil::Response) finish(*std::move(response));
}

void HostCall::on_closed(const std::string&) {
  if (request_.until == CallUntil::Response)
    return finish(fail(format("{} disconnected without a response", request_.agent)));
  if (answered_) return finish(json::object{});
  recheck();
}

void HostCall::recheck() {
  ++rechecks_;
  network_.connect(request_.socket,
                   [this, alive = lifetime_.watch()](const Result<std::unique_ptr<net::Stream>>& stream) {
                     if (alive) on_rechecked(stream);
                   });
}

void HostCall::on_rechecked(const Result<std::unique_ptr<net::Stream>>& stream) {
  if (!stream && is(stream.error(), net::Errc::ConnectionRefused)) return finish(json::object{});
  if (rechecks_ == kMaxRechecks)
    return finish(
        fail(format("the host of {} disconnected without a response and is still running; try again", request_.agent)));
  recheck_timer_ = loop_.after(kRecheckInterval, [this] { recheck(); });
}

void HostCall::on_timeout() {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(request_.timeout).count();
  if (request_.until == CallUntil::HostEnd && answered_)
    return finish(
        fail(format("{} was released and is still running after {} s; see what it does with: "
                    "agent-relay attach {}",
                    request_.agent, seconds, request_.agent)));
  finish(fail(format("the host of {} did not respond within {} s", request_.agent, seconds)));
}

void HostCall::finish(Result<json::object> outcome) {
  auto done = std::exchange(done_, nullptr);  // it may destroy this call
  if (done) done(std::move(outcome));
}

}  // namespace relay::host
