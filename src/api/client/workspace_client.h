/// One open workspace as the API speaks to it; abstract, so that tests can play it.
///
/// Why not the broker itself: the API has a thread of its own, and whatever HTTP clients do must never delay routing. It
///   is a client like any other, over the workspace's socket, and can do nothing that a client cannot.
/// Threading: the API's loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "protocol/message_type.h"

namespace relay::api {

class WorkspaceClient {
 public:
  using OnResponse = std::move_only_function<void(Result<json::object> payload)>;  // once; never inside ask()

  class EventListener {
   public:
    virtual ~EventListener() = default;
    /// In order of numbers, without gap: `json` is the event as it is told (flat object with _seq).
    virtual void on_event(std::uint64_t number, std::string_view json) = 0;
    /// The connection was lost; it comes back by itself and goes on where it stood.
    virtual void on_disconnected(const std::string& why) = 0;
    /// It came back to another store (wire.md 6.1): what was told is of a log that is gone, however its numbers compare.
    /// Nothing comes until somebody follows again.
    virtual void on_log_replaced() = 0;
  };

  virtual ~WorkspaceClient() = default;

  [[nodiscard]] virtual const std::string& id() const = 0;  // projectId
  [[nodiscard]] virtual const std::string& root() const = 0;
  [[nodiscard]] virtual const std::string& hosts()
      const = 0;  // directory of host records (host/control/running_hosts.h)

  /// What the daemon said, also when that is a refusal (`success` false, `error`, `code`); an error when nobody answered.
  virtual void request(protocol::MessageType type, json::object payload, OnResponse on_response) = 0;

  /// Everything behind that number, then live; nullptr ends it. One follower.
  virtual void follow(std::uint64_t after, EventListener* listener) = 0;
};

}  // namespace relay::api
