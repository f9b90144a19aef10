/// Requests to the daemon without a response yet.
///
/// A response names its request by the envelope's id (`*_RESPONSE`) or by `replyTo` (`*_RESULT`); a NACK refuses it by
/// `nack_id`, an ERROR by the same id. Bounded by kMaxPendingRequests.
/// Ownership: borrows the loop, which outlives it. Threading: loop thread only; a callback may make another request.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/event_loop.h"
#include "protocol/envelope.h"

namespace relay::client {

inline constexpr std::size_t kMaxPendingRequests = 64;

/// The response (never null, valid until the callback returns), or the reason why there is none.
using OnResponse = std::move_only_function<void(Result<const protocol::Envelope*>)>;

class PendingRequests {
 public:
  explicit PendingRequests(net::EventLoop& loop) : loop_{loop} {}

  [[nodiscard]] bool full() const { return open_.size() >= kMaxPendingRequests; }
  void add(std::string id, Millis timeout, OnResponse on_response);
  /// True when the frame was the response to an open request (its callback has run).
  bool answer(const protocol::Envelope& envelope);
  /// Fails every open request.
  void fail_all(const std::string& why);
  /// Drops them without a callback.
  void clear() { open_.clear(); }

 private:
  struct Open {
    OnResponse on_response;
    std::unique_ptr<net::Timer> timeout;
  };
  void finish(const std::string& id, Result<const protocol::Envelope*> result);

  net::EventLoop& loop_;
  std::map<std::string, Open, std::less<>> open_;
};

}  // namespace relay::client
