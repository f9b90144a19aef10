/// A client of one workspace over its socket: a link for requests, a link for events, a connection per message.
///
/// Why two links: a feed that catches up with a day of events must not delay responses.
/// Invariants: every request and every message completes exactly once, even when the workspace closes. At most
///   kMaxRequests requests are pending, client::kMaxPendingRequests of them in flight; more fail with BUSY.
///   Queued requests fail when the connection is lost. A message whose response was lost is sent once more with the
///   same id, so it is stored once. A link that the daemon stopped is replaced. Event numbers belong to one store: when
///   WELCOME has another store id, the listener gets on_log_replaced().
/// Ownership: borrows loop, network and random, which outlive it. Not to be destroyed inside one of its callbacks.
/// Threading: the API's loop thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "api/client/message_sender.h"
#include "api/client/workspace_client.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "client/daemon_call.h"
#include "client/link.h"

namespace relay::api {

struct WorkspaceLocation {
  std::string id = {};
  std::string root = {};
  std::string socket = {};
  std::string hosts = {};
};

class SocketWorkspaceClient final : public WorkspaceClient, public MessageSender {
 public:
  static constexpr std::size_t kMaxRequests = 1'024;
  static constexpr std::size_t kMaxSends = 256;  // in progress at once

  SocketWorkspaceClient(net::EventLoop& loop, net::Network& network, Random& random, WorkspaceLocation location);
  ~SocketWorkspaceClient() override;

  [[nodiscard]] const std::string& id() const override { return location_.id; }
  [[nodiscard]] const std::string& root() const override { return location_.root; }
  [[nodiscard]] const std::string& hosts() const override { return location_.hosts; }
  [[nodiscard]] const std::string& socket() const { return location_.socket; }

  /// True while the workspace cannot be reached: the daemon stopped, or the workspace was closed.
  [[nodiscard]] bool is_disconnected() const { return disconnected_; }

  void request(protocol::MessageType type, json::object payload, OnResponse on_response) override;
  void follow(std::uint64_t after, EventListener* listener) override;
  void send(OutgoingMessage message, OnStored on_stored) override;

 private:
  class ManagedLink;  // a link with its callbacks

  struct PendingRequest {
    protocol::MessageType type{};
    std::string payload;
    OnResponse on_response;
    std::unique_ptr<net::Timer> deadline;  // while it is queued
  };
  struct PendingSend {
    std::unique_ptr<client::DaemonCall> call;
    client::DaemonRequest request;
    OnStored on_stored;
    bool retried = false;
  };

  void open_request_link();
  void open_feed_link();
  void on_ready(const client::Session& session);
  void on_disconnected(const std::string& reason);
  void send_queued();
  void send_request(std::uint64_t number);
  void complete(std::uint64_t number, Result<json::object> result);
  void start_send(std::uint64_t number);
  void on_sent(std::uint64_t number, Result<client::DaemonResponse> result);
  bool detect_new_store(const client::Session& session);
  void on_feed_ready();
  void on_feed_frame(const protocol::Envelope& envelope);

  net::EventLoop& loop_;
  net::Network& network_;
  Random& random_;
  WorkspaceLocation location_;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, PendingRequest> requests_;
  std::deque<std::uint64_t> queued_;  // ids in requests_ that were not sent yet
  std::size_t in_flight_ = 0;         // sent, without a response
  bool disconnected_ = false;
  std::unordered_map<std::uint64_t, PendingSend> sends_;
  EventListener* listener_ = nullptr;
  std::uint64_t last_seq_ = 0;
  std::string store_id_;  // from the last WELCOME; event numbers belong to it
  std::unique_ptr<net::Timer> feed_retry_;
  std::unique_ptr<ManagedLink> request_link_, feed_link_;  // last: destroyed first
  Lifetime lifetime_;
};

}  // namespace relay::api
