/// The native interfaces of one agent CLI behind one interface: output, state, delivery, prompts, usage. A new agent is
/// one class in `<agent>.cc`, and a profile.
///
///     host ──prepare, start, deliver, answer──▶ Adapter ──▶ transcript, hooks, inbox, queue, server of the agent
///     host ◀──output, model input, events, prompts, usage── Listener ◀──┘
///
/// Invariants
/// - Every result names its interface; a failing interface is reported with its reason, once, and the host then uses the
///   next one (screen, terminal).
/// - `deliver` delivers a text at most once: after `done(success)` the agent has it, and it may be delivered again only
///   if `on_returned` names it; after `done(failure)` the agent has nothing of it.
/// - Files of the user are never written: arguments, variables and private files configure a run.
/// - Unknown input from an agent is ignored; no transcript, hook or response of an agent can end the host.
/// Ownership: the host owns the adapter; the adapter borrows loop and listener, which outlive it.
/// Threading: loop thread only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/prompt.h"
#include "base/clock.h"
#include "base/result.h"
#include "events/event.h"
#include "hooks/event.h"
#include "hooks/response.h"
#include "net/asio_loop.h"
#include "profiles/state_classifier.h"
#include "protocol/send.h"
#include "pty/command.h"

namespace relay::adapters {

/// Interface names, as in `explain` and in the delivery history.
namespace via {
inline constexpr std::string_view kTranscript = "transcript";  // the agent's own transcript, on disk
inline constexpr std::string_view kHook = "hook";              // the agent runs agent-relay
inline constexpr std::string_view kInbox = "inbox";            // Claude Code's session socket
inline constexpr std::string_view kQueue = "queue";            // Codex's queue of a thread
inline constexpr std::string_view kServer = "server";          // OpenCode's HTTP server
inline constexpr std::string_view kStatus = "status";          // OSC 7501
inline constexpr std::string_view kScreen = "screen";
inline constexpr std::string_view kTerminal = "pty";  // typed, through the PTY gate
inline constexpr std::string_view kLines = "lines";   // the output of a program without a profile
inline constexpr std::string_view kInboxFile = "inbox.md";
inline constexpr std::string_view kFetch = "fetch";  // held until the agent fetches it
inline constexpr std::string_view kMcp = "mcp";      // of a receipt: fetched by the agent's MCP server
}  // namespace via

/// When a text of a given mode may be delivered. Never while a prompt of the agent is open.
enum class DeliveryTiming : std::uint8_t {
  Never,        // no native interface supports the mode
  WhenIdle,     // after a turn
  WhenWorking,  // during a turn
  Anytime,
  OnHook,  // a hook of the agent delivers it (take_pending)
};
struct ModeSupport {
  DeliveryTiming timing = DeliveryTiming::Never;
  std::string_view via = {};
  SteadyTime not_before{};           // the agent's rate limit
  bool as_peer = false;              // the model sees the message as a peer's, not as its user's
  std::size_t max_bundle_bytes = 0;  // messages up to this size share one text; 0: one message at a time
};

inline constexpr std::size_t kModes = 5;  // of protocol::DeliveryMode

/// The native interfaces this session has now. An empty name: only screen and terminal.
struct NativeCapabilities {
  std::string_view output = {}, state = {}, prompts = {}, usage = {};
  bool output_expected = false;  // `output` will follow; until then the screen may show history
  bool terminal = true;          // false: it runs in the user's own terminal, without a screen to read or type into
  std::array<ModeSupport, kModes> delivery = {};

  [[nodiscard]] const ModeSupport& by(protocol::DeliveryMode mode) const {
    return delivery[static_cast<std::size_t>(mode)];
  }
  ModeSupport& by(protocol::DeliveryMode mode) { return delivery[static_cast<std::size_t>(mode)]; }
};

/// A text for the agent. It starts with the relay's header and reaches the agent unchanged.
struct NativeDelivery {
  std::string key = {};  // of the delivery, for idempotence
  std::string text = {};
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
};

/// The state that the agent's own server or status reports; only from sources that report every change.
struct ReportedState {
  profiles::State state = profiles::State::Unknown;  // Working, Idle or Blocked
  std::string detail = {};
  std::string_view via = {};  // empty: the interface in NativeCapabilities::state
};

/// Tokens and cost of one reply of the model; the same `id` again replaces the earlier counts.
struct TokenUsage {
  std::string id = {}, model = {};
  std::int64_t input = 0, output = 0, cache_read = 0, cache_write = 0, reasoning = 0;
  std::optional<double> cost = {};  // in dollars, if the agent reports it
};

/// Receives the agent's output.
class OutputListener {
 public:
  virtual ~OutputListener() = default;
  /// One complete block of the agent's output, raw markdown.
  virtual void on_assistant_text(std::string_view markdown, std::string_view via) = 0;
};

/// Receives evidence of deliveries, and supplies the pending messages to hooks.
class DeliveryListener {
 public:
  virtual ~DeliveryListener() = default;
  /// Text that the agent reports as input of the model: the proof that a message was seen. `id`: the evidence (the id of
  /// a transcript entry or message, the name of a hook); may be empty.
  virtual void on_model_input(std::string_view text, std::string_view via, std::string_view id) = 0;
  /// The agent no longer has these accepted texts and its model did not get them; in the order of their delivery. They
  /// may be delivered again, also via another interface.
  virtual void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) = 0;
  /// For a hook: the pending messages of the mode, at most `max_bytes` in total. The agent has them from then on.
  virtual std::string take_pending(protocol::DeliveryMode mode, std::size_t max_bytes) = 0;
};

/// Receives the other reports of an adapter, and names the listeners for output and deliveries.
class Listener {
 public:
  virtual ~Listener() = default;
  [[nodiscard]] virtual OutputListener& output() = 0;
  [[nodiscard]] virtual DeliveryListener& deliveries() = 0;
  virtual void on_state_reported() = 0;  // `reported_state()` has changed
  virtual void on_capabilities() = 0;    // `capabilities()` has changed
  virtual void on_prompt(const Prompt& prompt) = 0;
  /// The prompt can no longer be answered via this interface.
  virtual void on_prompt_closed(const std::string& id, const PromptOutcome& outcome) = 0;
  virtual void on_usage(const TokenUsage& usage) = 0;
  /// An event of the agent and its recorded time; the listener adds the agent's name. Prompts are reported by
  /// `on_prompt` only.
  virtual void on_event(const events::Event& event, WallMs at) = 0;
  /// A limit or failure that ended a turn, in the agent's words.
  virtual void on_failure(std::string_view message, std::string_view via) = 0;
  /// An interface failed; the reason is for users.
  virtual void on_interface_failed(std::string_view via, std::string reason) = 0;
  /// The interface works again.
  virtual void on_interface_recovered(std::string_view via) = 0;
};

/// The context of an agent's start.
struct LaunchContext {
  std::string program;       // agent-relay itself, for hooks
  std::string private_file;  // path of a file of this run, 0600, which the host removes after the agent's end
  std::string instructions;  // for the agent, about the relay; empty: none
  bool attended = true;      // a user is at its terminal
};

/// Delivers texts to the agent.
class DeliveryTarget {
 public:
  using OnAccepted = std::move_only_function<void(Result<void>)>;

  virtual ~DeliveryTarget() = default;
  virtual void deliver(const NativeDelivery& delivery, OnAccepted done) = 0;
};

class Adapter : public DeliveryTarget {
 public:
  using OnAnswered = std::move_only_function<void(Result<void>)>;
  using HookReply = std::move_only_function<void(const hooks::HookResponse&)>;

  /// Before the start: adds the options that enable the interfaces to the command. Where that is impossible the agent
  /// runs without them, and `on_interface_failed` has the reason after the start.
  virtual void prepare(pty::Command& command, const LaunchContext& context) = 0;
  /// The program runs.
  virtual void start(Listener& listener, pid_t agent) = 0;

  [[nodiscard]] virtual NativeCapabilities capabilities() const = 0;
  [[nodiscard]] virtual std::optional<ReportedState> reported_state() const { return std::nullopt; }

  /// Answers an open prompt. Completes once, when the agent has the answer, or with the error: the prompt is closed, or
  /// cannot be answered via this interface.
  virtual void answer(const std::string& prompt, const PromptAnswer& answer, OnAnswered done) = 0;
  /// No rule decides the prompt. An agent that shows its own dialog only after its hook has returned may show it now.
  virtual void show_dialog(const std::string& /*prompt*/) {}

  /// A hook of the agent is connected. `call` identifies it for `on_hook_closed`: it disconnected without a response.
  virtual void on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply);
  virtual void on_hook_closed(std::uint64_t call);
  /// The state on the screen: for adapters that must know when a dialog has closed.
  virtual void on_state(profiles::State state);
  /// The window's title, at each screen update with a composer or a dialog. `start_page`: the screen shows the agent's
  /// start page, without a conversation.
  virtual void on_window_title(std::string_view /*title*/, bool /*start_page*/) {}
  /// The program has ended, and its last output was read: open items will not complete.
  virtual void on_agent_exit();
};

/// The adapter for the profile with this name; none for an agent without a known native interface.
/// The loop outlives it.
std::unique_ptr<Adapter> make_adapter(std::string_view profile, net::AsioLoop& loop);

}  // namespace relay::adapters
