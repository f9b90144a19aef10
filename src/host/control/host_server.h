/// Serves the host's private socket: clients of the same user attach to the screen, send input, query state and stop
/// the agent.
///
/// Invariants
/// - A client costs a bounded amount: at most kMaxClients, kMaxClientBacklogBytes of unread output each. A slow client
///   loses output; after it catches up, the server sends the whole screen. A client that does not read responses is
///   disconnected. A client never delays the agent.
/// - The service is notified when a hook disconnects before its response.
/// - Requests are served at any time. Only clients that type are paused while the agent does not read its input.
/// - A screen is sent only between two escape sequences, so that later output continues it.
/// - One driving client sets the size: the last that attached or typed.
/// - Keys, answers and release are for the user, and for the daemon on behalf of callers it has checked. Hooks and
///   messages are for the user and this host's own agent. A process inside another agent may only read.
/// - The socket is private (0600) and removed with the server.
/// Ownership: borrows loop, network and service, which outlive it. Must not be destroyed inside a call of the service.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "base/lifetime.h"
#include "host/control/host_protocol.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/peer_origin.h"
#include "terminal/screen.h"
#include "text/json_writer.h"

namespace relay::host {

inline constexpr std::size_t kMaxClients = 256;
inline constexpr std::size_t kMaxAttached = 64;  // of kMaxClients
inline constexpr std::size_t kMaxClientBacklogBytes = 1 << 20;

/// Executes the requests.
class HostService {
 public:
  virtual ~HostService() = default;
  /// The name of the agent.
  [[nodiscard]] virtual const std::string& agent() const = 0;
  [[nodiscard]] virtual const terminal::Screen& screen() const = 0;
  virtual void describe(text::JsonWriter& answer) const = 0;
  virtual void explain(text::JsonWriter& answer) const = 0;
  /// Only `state` and `evidence`.
  virtual void describe_state(text::JsonWriter& answer) const = 0;
  /// Why the agent has no terminal; empty when it has one.
  [[nodiscard]] virtual std::string no_terminal_reason() const { return {}; }
  virtual void client_input(std::string_view bytes) = 0;
  virtual void client_interrupt() = 0;
  using OnDone = std::move_only_function<void(Result<void>)>;
  /// Pastes and submits a text now; `done` is called once.
  virtual void client_text(const std::string& text, OnDone done) = 0;
  /// The terminal size of the driving client.
  virtual void client_resize(pty::WindowSize size) = 0;
  virtual void client_release(const ReleaseAgent& request) = 0;

  /// A hook call. `reply` is called once with its response; `hook_disconnected` when it disconnects before.
  virtual void hook_called(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply) = 0;
  virtual void hook_disconnected(std::uint64_t call) = 0;
  virtual void fetch_messages(const FetchMessages& request, text::JsonWriter& answer) = 0;
  virtual void describe_prompts(text::JsonWriter& answer) const = 0;
  /// `done` is called once, when the prompt is answered or with the error.
  virtual void answer_prompt(const AnswerPrompt& request, OnDone done) = 0;
  /// No rule decides this prompt.
  virtual void show_dialog(const std::string& prompt) = 0;
};

class HostServer {
 public:
  HostServer(net::EventLoop& loop, net::Network& network, HostService& service);
  ~HostServer();

  /// Classifies a peer when it connects (peer_classifier.h). Without one every peer is the user's.
  using OriginOf = std::function<protocol::PeerOrigin(const net::Peer& peer)>;
  void classify_by(OriginOf origin_of) { origin_of_ = std::move(origin_of); }

  Result<void> listen(const std::string& path);

  // Reports of the host, for clients.
  void on_output(std::string_view bytes);  // after the screen was fed
  void on_resized();
  void on_state();
  void on_command_sent(std::string_view to, std::string_view kind);
  /// Another event for clients that watch, as JSON.
  void on_event(const std::string& event);
  /// The agent does not read its input: clients that type are paused.
  void on_backpressure(bool active);
  /// The agent has ended. Connections stay until the server is destroyed, after the host has released its files.
  void on_exit(int code);

  [[nodiscard]] std::size_t attached_clients() const;

 private:
  class Client;

  void accept(std::unique_ptr<net::Stream> stream);
  void disconnect(std::uint64_t id);
  void destroy_later();
  void apply_size();
  /// Sends the event to the clients for which `receives` is true.
  template <typename Predicate>
  void broadcast(Predicate&& receives, const std::string& event);

  net::EventLoop& loop_;
  net::Network& network_;
  HostService& service_;
  OriginOf origin_of_;
  std::map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::vector<std::uint64_t> leaving_;  // disconnected, but perhaps still on the call stack or under iteration
  std::uint64_t last_client_ = 0;
  bool is_backpressured_ = false;
  std::vector<std::uint64_t> driving_clients_;  // the last one sets the size
  std::unique_ptr<net::Listener> listener_;
  Lifetime lifetime_;
};

}  // namespace relay::host
