/// The API's interface to one open workspace. Abstract, so that tests can replace it.
///
/// Why not the broker itself: the API runs on its own thread, and HTTP clients must never delay routing. It is a client
///   like any other, over the workspace's socket, and can do nothing that a client cannot.
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
  using OnResponse =
      std::move_only_function<void(Result<json::object> payload)>;  // called once, never inside request()

  class EventListener {
   public:
    virtual ~EventListener() = default;
    /// Numbers arrive in order without gaps. `json` is the event as a flat object with `_seq`.
    virtual void on_event(std::uint64_t number, std::string_view json) = 0;
    /// The connection was lost. It reconnects and resumes after the last event.
    virtual void on_disconnected(const std::string& reason) = 0;
    /// It reconnected to another store (wire.md 6.1), so earlier numbers belong to another log. No event follows
    /// until the next follow().
    virtual void on_log_replaced() = 0;
  };

  virtual ~WorkspaceClient() = default;

  [[nodiscard]] virtual const std::string& id() const = 0;  // projectId
  [[nodiscard]] virtual const std::string& root() const = 0;
  [[nodiscard]] virtual const std::string& hosts()
      const = 0;  // directory of host records (host/control/running_hosts.h)

  /// The response of the daemon, including one with `success` false, `error` and `code`; an error when there was none.
  virtual void request(protocol::MessageType type, json::object payload, OnResponse on_response) = 0;

  /// Sends the events after that number, then new ones, to the listener; nullptr stops. One listener at a time.
  virtual void follow(std::uint64_t after, EventListener* listener) = 0;
};

}  // namespace relay::api
