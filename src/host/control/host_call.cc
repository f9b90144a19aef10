#include "host/control/host_call.h"

#include "base/format.h"
#include "base/json.h"
#include "net/unix_address.h"
#include "protocol/send.h"

namespace relay::host {
namespace {

constexpr int kMaxLooks = 4;
constexpr Millis kBetweenLooks{50};

}  // namespace

HostCall::HostCall(net::EventLoop& loop, net::Network& network, HostCallRequest request, Done done)
    : loop_{loop}, network_{network}, request_{std::move(request)}, done_{std::move(done)} {
  timer_ = loop_.after(request_.timeout, [this] { on_late(); });
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
  const bool gone = is(stream.error(), net::Errc::ConnectionRefused);
  if (gone && request_.until == CallUntil::End) return finish(json::object{});
  finish(gone ? fail(format("{} is gone", request_.agent)) : Failure{std::move(stream).error()});
}

void HostCall::on_bytes(std::string_view bytes) {
  reader_.push(bytes);
  const auto alive = lifetime_.watch();
  while (alive) {
    const auto frame = reader_.next();
    if (!frame)
      return finish(fail(format("the host of {} is not understood: {}", request_.agent, frame.error().message())));
    if (!*frame) return;
    if (!answered_) on_answer(**frame);
  }
}

void HostCall::on_answer(std::string_view frame) {
  auto answer = parse_json_object(frame);
  if (!answer || !answer->contains("method")) return;  // an event
  answered_ = true;
  if (!bool_member(*answer, "ok").value_or(false)) {
    auto why = string_member(*answer, "error").value_or(format("{} refused", request_.agent));
    const auto code = protocol::parse_nack_code(string_member(*answer, "code").value_or(""));
    return finish(code ? fail(*code, std::move(why)) : fail(std::move(why)));
  }
  if (request_.until == CallUntil::Answer) finish(*std::move(answer));
}

void HostCall::on_closed(const std::string&) {
  if (request_.until == CallUntil::Answer)
    return finish(fail(format("{} went away before it answered", request_.agent)));
  if (answered_) return finish(json::object{});
  look();
}

void HostCall::look() {
  ++looks_;
  network_.connect(request_.socket,
                   [this, alive = lifetime_.watch()](const Result<std::unique_ptr<net::Stream>>& stream) {
                     if (alive) on_looked(stream);
                   });
}

void HostCall::on_looked(const Result<std::unique_ptr<net::Stream>>& stream) {
  if (!stream && is(stream.error(), net::Errc::ConnectionRefused)) return finish(json::object{});
  if (looks_ == kMaxLooks)
    return finish(
        fail(format("the host of {} hung up without an answer and is still there; try again", request_.agent)));
  next_look_ = loop_.after(kBetweenLooks, [this] { look(); });
}

void HostCall::on_late() {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(request_.timeout).count();
  if (request_.until == CallUntil::End && answered_)
    return finish(
        fail(format("{} was told to end and is still there after {} s; see what it does with: "
                    "agent-relay attach {}",
                    request_.agent, seconds, request_.agent)));
  finish(fail(format("the host of {} did not answer within {} s", request_.agent, seconds)));
}

void HostCall::finish(Result<json::object> outcome) {
  auto done = std::exchange(done_, nullptr);  // it may destroy us
  if (done) done(std::move(outcome));
}

}  // namespace relay::host
