/// One agent program's own doors behind one interface: to hear it, to know its state, to speak to it, to answer what it
/// asks, to count what it used. A new agent is one file of these and a profile.
///
///     host ──prepare, start, speak, answer──▶ Adapter ──▶ transcript, hooks, inbox, queue, server of the agent
///     host ◀──heard, given, events, prompts, usage── Listener ◀──┘
///
/// Invariants
/// - Every result carries the name of the way it came by; a way that breaks is told with its reason, once, and the host
///   goes one step down (screen, terminal) for what comes after.
/// - `speak` hands a text over at most once: after `done(success)` it is in the agent's hands and nobody else may bring
///   it, unless `on_returned` names it; after `done(failure)` nothing of it is.
/// - Nothing of the person's is written: what a run needs is passed by arguments, variables and private files of ours.
/// - What an agent tells that we do not know is passed over; no record, hook or answer of an agent can end the host.
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

/// Ways, as people read them in `explain` and in the ledger.
namespace way {
inline constexpr std::string_view kTranscript = "transcript";  // the agent's own record, on disk
inline constexpr std::string_view kHook = "hook";              // the agent calls us
inline constexpr std::string_view kInbox = "inbox";            // Claude Code's session socket
inline constexpr std::string_view kQueue = "queue";            // Codex's queue of a thread
inline constexpr std::string_view kServer = "server";          // OpenCode's HTTP server
inline constexpr std::string_view kStatus = "status";          // OSC 7501
inline constexpr std::string_view kScreen = "screen";
inline constexpr std::string_view kTerminal = "pty";  // typed, through the gate
inline constexpr std::string_view kLines = "lines";   // what a program without a profile prints
inline constexpr std::string_view kInboxFile = "inbox.md";
}  // namespace way

/// When a text of some mode may be handed to `speak`. Never while the agent asks something.
enum class DeliveryTiming : std::uint8_t {
  Never,    // this mode is not possible by a native way
  Idle,     // its turn is over
  Working,  // in the middle of a turn
  AnyTime,
  Asked,  // not handed over: the agent's hook comes and takes it (Listener::take)
};
struct ModeSupport {
  DeliveryTiming moment = DeliveryTiming::Never;
  std::string_view via = {};
  SteadyTime not_before{};         // it takes only so many in a while
  bool as_peer = false;            // the agent tells its model that a peer speaks, not its user
  std::size_t together_bytes = 0;  // so much of several messages goes in one text; none: one message at a time
};

inline constexpr std::size_t kModes = 5;  // of protocol::DeliveryMode

/// What this session can do by its own doors, now. An empty way: only by screen and terminal.
struct NativeCapabilities {
  std::string_view output = {}, state = {}, prompts = {}, usage = {};
  bool hears_soon = false;  // not yet by its own door, but it will: what the screen shows meanwhile may be history
  bool terminal = true;     // false: it runs with the person's descriptors, so there is no screen to read or type into
  std::array<ModeSupport, kModes> delivery = {};

  [[nodiscard]] const ModeSupport& by(protocol::DeliveryMode mode) const {
    return delivery[static_cast<std::size_t>(mode)];
  }
  ModeSupport& by(protocol::DeliveryMode mode) { return delivery[static_cast<std::size_t>(mode)]; }
};

/// A text for the agent. `text` begins with our header; it reaches the agent as it is.
struct NativeDelivery {
  std::string delivery = {};  // an idempotency key
  std::string text = {};
  protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;
};

/// What the agent's own server or status says it is doing; only from sources that tell every change.
struct ReportedState {
  profiles::State state = profiles::State::Unknown;  // Working, Idle or Blocked
  std::string says = {};
  std::string_view via = {};  // it came by; empty: by what `know` names
};

/// Tokens and cost of one answer of the model, counted once: the same `id` again replaces what was told before.
struct TokenUsage {
  std::string id = {}, model = {};
  std::int64_t input = 0, output = 0, cache_read = 0, cache_write = 0, reasoning = 0;
  std::optional<double> cost = {};  // in dollars, when the agent says so
};

class Listener {
 public:
  virtual ~Listener() = default;
  /// The agent's own words to the end: one whole block of raw markdown.
  virtual void on_assistant_text(std::string_view markdown, std::string_view way) = 0;
  /// Text that was put before the model, as the agent itself tells: the proof that a message was seen. `id`: under which
  /// it stands there (a record's id, a hook's name, a message's); may be empty.
  virtual void on_model_input(std::string_view text, std::string_view way, std::string_view id) = 0;
  virtual void on_state_reported() = 0;  // `known()` has changed
  virtual void on_capabilities() = 0;    // `capabilities()` has changed
  virtual void on_prompt(const Prompt& prompt) = 0;
  /// It cannot be answered here any more.
  virtual void on_prompt_closed(const std::string& id, const PromptOutcome& end) = 0;
  virtual void on_usage(const TokenUsage& usage) = 0;
  /// What the agent did, and when it says it did; whose it is, is left to the listener. Prompts are not told so.
  virtual void on_event(const events::Event& event, WallMs at) = 0;
  /// A limit or failure that ended a turn, in the agent's words.
  virtual void on_failure(std::string_view what, std::string_view way) = 0;
  /// A way does not work (any more), and why: one sentence.
  virtual void on_interface_failed(std::string_view way, std::string why) = 0;
  /// It works after all.
  virtual void on_interface_recovered(std::string_view way) = 0;
  /// Texts that `speak` handed over are out of the agent's hands again, unread, in the order in which they were handed over,
  /// and why. They may be delivered another way.
  virtual void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) = 0;
  /// For a hook: what waits for this moment, together at most so many bytes; it is in the agent's hands from now on.
  virtual std::string take_pending(protocol::DeliveryMode mode, std::size_t max_bytes) = 0;
};

/// Where an agent is about to be started.
struct LaunchContext {
  std::string program;       // agent-relay itself, for hooks
  std::string private_file;  // a path of ours, 0600, removed by the host when the agent has ended
  std::string instructions;  // what the agent should know of the relay; empty: it is to be told nothing
  bool attended = true;      // a person sits before its terminal
};

/// Takes texts for the agent.
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

  /// Before the start: adds to the command what opens the doors. Where that is not possible the agent runs without, and
  /// `on_broken` says why after the start.
  virtual void prepare(pty::Command& command, const LaunchContext& where) = 0;
  /// The program runs.
  virtual void start(Listener& listener, pid_t agent) = 0;

  [[nodiscard]] virtual NativeCapabilities capabilities() const = 0;
  [[nodiscard]] virtual std::optional<ReportedState> reported_state() const { return std::nullopt; }

  /// To a prompt that is open. Told once, when the agent has it, or why not: it is gone, or cannot be answered so.
  virtual void answer(const std::string& prompt, const PromptAnswer& reply, OnAnswered done) = 0;
  /// No rule decides that prompt. An agent that shows its own dialog only after its hook has returned may show it now.
  virtual void show_dialog(const std::string& /*prompt*/) {}

  /// A hook of the agent waits at the door. `call` names it for `on_hook_gone`: it left without an answer.
  virtual void on_hook(const hooks::HookEvent& event, std::uint64_t call, HookReply reply);
  virtual void on_hook_gone(std::uint64_t call);
  /// What the host sees: for adapters that need to know when a dialog has closed.
  virtual void on_state(profiles::State state);
  /// What the whole screen shows, whenever it was looked at and a composer or a dialog was recognised: the window's title, and
  /// whether it is the agent's start page, without a conversation.
  virtual void on_shown(std::string_view /*title*/, bool /*start_page*/) {}
  /// The program has ended, and its last words were read: what it had begun will not be completed.
  virtual void on_agent_exit();
};

/// The adapter for a profile of that name; none when the agent has no doors we know.
/// The loop outlives it.
std::unique_ptr<Adapter> adapter_for(std::string_view profile, net::AsioLoop& loop);

}  // namespace relay::adapters
