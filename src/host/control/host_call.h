/// One request at a host's door (docs/spec/host.md), and what came of it.
///
/// Contract: `done` is called once, never from inside the constructor; the call may be destroyed inside it. A host that
///   hangs up without an answer is gone only if nobody listens at its door any more. A refusal's code, when the host
///   tells one, is in the error (protocol::refusal_in).
/// Ownership: borrows loop and network, which outlive it; destroying it hangs up and calls nobody.
/// Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/lifetime.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/frame.h"

namespace relay::host {

/// When the call has served its purpose: once it was answered, or once nobody is behind the door any more.
enum class CallUntil { Answer, End };

struct HostCallRequest {
  std::string agent;   // for the sentences
  std::string socket;  // the door
  std::string body;    // JSON
  CallUntil until = CallUntil::Answer;
  Millis timeout{5'000};
};

class HostCall final : private net::StreamListener {
 public:
  /// The answer, as the door said it; empty for one who was to end and has.
  using Done = std::move_only_function<void(Result<json::object>)>;

  HostCall(net::EventLoop& loop, net::Network& network, HostCallRequest request, Done done);
  ~HostCall() override;
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;

 private:
  void on_connected(Result<std::unique_ptr<net::Stream>> stream);
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t) override {}
  void on_closed(const std::string& reason) override;
  void on_late();
  /// Is anybody there still? One that is dying may be, for a moment.
  void look();
  void on_looked(const Result<std::unique_ptr<net::Stream>>& stream);
  void on_answer(std::string_view frame);
  void finish(Result<json::object> outcome);

  net::EventLoop& loop_;
  net::Network& network_;
  HostCallRequest request_;
  Done done_;
  int looks_ = 0;
  bool answered_ = false;
  protocol::FrameReader reader_;
  std::unique_ptr<net::Timer> timer_, next_look_;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

}  // namespace relay::host
