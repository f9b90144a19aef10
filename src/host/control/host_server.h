/// A host's door: whoever of the same user comes may see the agent's screen, type, ask, wait, or end it.
///
/// Invariants
/// - A visitor costs a bounded amount: at most kMaxVisitors, kMaxBehindBytes of unread output each. Who reads too slowly
///   misses output and gets the whole screen once he has caught up; who does not read answers is let go. The agent never
///   waits for a visitor.
/// - A hook that leaves before it was answered is told to the keeper.
/// - Everybody is heard at any time: only who types into an agent that does not read waits.
/// - A screen is sent only between sequences, so that what follows continues it.
/// - One of those who drive sets the size: the last that attached or typed.
/// - Keys, answers and the end of the agent are the user's, or the daemon's for callers it has checked. Hooks and messages are
///   the user's and this host's own agent's. A process inside another agent may look.
/// - The socket is private (0600) and gone with the door.
/// Ownership: borrows loop, network and keeper, which outlive it. Must not be destroyed inside a call of the keeper.
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

/// What the door needs of the host behind it.
class HostService {
 public:
  virtual ~HostService() = default;
  /// The name of the agent behind this door.
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
  /// Words to be pasted and entered now; told once, when it is done or why it is not.
  virtual void client_text(const std::string& text, OnDone done) = 0;
  /// The one who sets the size has a terminal that large.
  virtual void client_resize(pty::WindowSize size) = 0;
  virtual void client_release(const ReleaseAgent& wish) = 0;

  /// The agent's hook, which waits until `reply` is called; `hook_gone` when it did not.
  virtual void hook_called(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply) = 0;
  virtual void hook_closed(std::uint64_t call) = 0;
  virtual void fetch_messages(const FetchMessages& wish, text::JsonWriter& answer) = 0;
  virtual void describe_prompts(text::JsonWriter& answer) const = 0;
  /// Told once, when it is answered or why it is not.
  virtual void answer_prompt(const AnswerPrompt& wish, OnDone done) = 0;
  /// No rule decides it.
  virtual void show_dialog(const std::string& prompt) = 0;
};

class HostServer {
 public:
  HostServer(net::EventLoop& loop, net::Network& network, HostService& keeper);
  ~HostServer();

  /// Classifies a peer when it connects (peer_classifier.h). Without one every peer is the user's.
  using OriginOf = std::function<protocol::PeerOrigin(const net::Peer& peer)>;
  void classify_by(OriginOf origin_of) { origin_of_ = std::move(origin_of); }

  Result<void> listen(const std::string& path);

  // What happens behind the door.
  void on_output(std::string_view bytes);  // the keeper's screen has been fed with them already
  void on_resized();
  void on_state();
  void on_said(std::string_view to, std::string_view kind);
  /// Something else that those who watch want to know: an event as JSON.
  void on_event(const std::string& event);
  /// The agent does not read what is typed: visitors wait with more of it.
  void on_backpressure(bool crowded);
  /// The agent has ended: everybody is told. Connections end with the door itself, when all that was ours is free.
  void on_exit(int code);

  [[nodiscard]] std::size_t watchers() const;  // that are attached

 private:
  class Client;

  void accept(std::unique_ptr<net::Stream> stream);
  void leave(std::uint64_t id);
  void bury();
  void settle_size();
  template <typename Wants>
  void tell(Wants&& wants, const std::string& event);

  net::EventLoop& loop_;
  net::Network& network_;
  HostService& keeper_;
  OriginOf origin_of_;
  std::map<std::uint64_t, std::unique_ptr<Client>> visitors_;
  std::vector<std::uint64_t> leaving_;  // gone, but perhaps still on the call stack or under iteration
  std::uint64_t last_visitor_ = 0;
  bool crowded_ = false;
  std::vector<std::uint64_t> drivers_;  // the last one sets the size
  std::unique_ptr<net::Listener> listener_;
  Lifetime lifetime_;
};

}  // namespace relay::host
