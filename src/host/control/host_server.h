/// Serves the host's private socket: clients of the same user attach to the screen, send input, query state and stop
/// the agent.
///
/// Invariants
/// - A client costs a bounded amount: at most kMaxClients, kMaxClientBacklogBytes of unread output each. A slow client
///   loses output; after it catches up, the server sends the whole screen. A client that does not read responses is
///   disconnected. The agent never waits for a client.
/// - The service learns when a hook disconnects before it was answered.
/// - Requests are served at any time: only a client that types into an agent that does not read waits.
/// - A screen is sent only between two escape sequences, so that the output after it continues it.
/// - One driving client sets the size: the last that attached or typed.
/// - Keys, answers and release are for the user, and for the daemon on behalf of callers it has checked. Hooks and
///   messages are for the user and this host's own agent. A process inside another agent may read.
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
inline constexpr std::size_t kMaxWatchers = 64;  // attached
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
  /// Why there is no screen to show and nothing to type into; empty when there is.
  [[nodiscard]] virtual std::string why_no_terminal() const { return {}; }
  virtual void client_input(std::string_view bytes) = 0;
  virtual void client_interrupt() = 0;
  using OnDone = std::move_only_function<void(Result<void>)>;
  /// A text to be pasted and submitted now; `done` is called once.
  virtual void client_text(const std::string& text, OnDone done) = 0;
  /// The terminal of the client that sets the size.
  virtual void client_resize(pty::WindowSize size) = 0;
  virtual void client_release(const ReleaseAgent& request) = 0;

  /// A hook of the agent, which waits until `reply` is called; `hook_closed` when it disconnects before.
  virtual void hook_called(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply) = 0;
  virtual void hook_closed(std::uint64_t call) = 0;
  virtual void fetch_messages(const FetchMessages& request, text::JsonWriter& answer) = 0;
  virtual void describe_prompts(text::JsonWriter& answer) const = 0;
  /// `done` is called once, when it is answered or with the reason why not.
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
  void on_output(std::string_view bytes);  // the screen has them already
  void on_resized();
  void on_state();
  void on_command_sent(std::string_view to, std::string_view kind);
  /// Another event for clients that watch, as JSON.
  void on_event(const std::string& event);
  /// The agent does not read its input: clients that type wait.
  void on_backpressure(bool crowded);
  /// The agent has ended. Connections stay until the server is destroyed, when the host has released everything.
  void on_exit(int code);

  [[nodiscard]] std::size_t watchers() const;  // that are attached

 private:
  class Client;

  void accept(std::unique_ptr<net::Stream> stream);
  void disconnect(std::uint64_t id);
  void destroy_later();
  void apply_size();
  template <typename Wants>
  void tell(Wants&& wants, const std::string& event);

  net::EventLoop& loop_;
  net::Network& network_;
  HostService& service_;
  OriginOf origin_of_;
  std::map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::vector<std::uint64_t> leaving_;  // disconnected, but perhaps still on the call stack or under iteration
  std::uint64_t last_client_ = 0;
  bool crowded_ = false;
  std::vector<std::uint64_t> driving_clients_;  // the last one sets the size
  std::unique_ptr<net::Listener> listener_;
  Lifetime lifetime_;
};

}  // namespace relay::host
