/// Decides via which interface each delivery reaches the agent, and when: natively, via a hook, by a fetch, or typed.
///
///     add ─▶ lane of its mode and priority ──timing allows──▶ accepted natively ──transcript shows it──▶ delivered, seen
///                     │ no native interface: the injector types it (on-idle, immediate)
///                     └ a hook delivers it (next-message, next-tool-call), or the agent fetches it (manual)
///     silent deliveries (state, ack) have their own lanes: a hook delivers them, or they go with one that wakes the agent
///
/// Invariants
/// - Urgent lanes come before all others; within a lane the senders take turns (fair_queue.h). A delivery that does not
///   fit an interface stays pending with its sender's later ones; other senders continue.
/// - A delivery uses one interface: once accepted natively it is never typed, unless the interface rejected it or
///   returned it unread; then the delivery history has the reason.
/// - The intent is on disk before a native delivery, as before the first typed byte.
/// - Nothing is delivered while the agent shows a prompt, or before it is ready.
/// - Delivered is reported when the agent's transcript shows the text; without a transcript, when the agent starts to
///   work after it accepted the text. A text that an idle agent does not show for kInDoubtAfter is in doubt; one that
///   starts no turn, only after a turn that should have shown it.
/// - The delivery that interrupted a turn starts the next one; only a draft of the user comes before it.
/// - No turn is interrupted while an accepted text is not shown: the program may drop it with the turn.
/// - A message of the user uses no interface that presents it as a peer's: it is typed through the gate.
/// - Nothing is delivered between a typed text and its Enter, and nothing is typed while a native delivery is about to
///   start its turn.
/// - A pending user message holds back other messages for an idle agent, not urgent ones.
/// - While the agent is paused nothing new is delivered; started deliveries finish, and fetches are served.
/// - A silent delivery never starts a turn, is never typed alone and interrupts nothing.
/// - A pending reason is reported when it changes, an outcome exactly once. An expired delivery is not delivered.
/// Ownership: borrows the intent log, the injector, the native interface and the reporter, which outlive it.
/// Threading: loop thread only; the clock is an argument.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"
#include "base/lifetime.h"
#include "host/delivery/delivery.h"
#include "host/delivery/evidence_matcher.h"
#include "host/delivery/fair_queue.h"
#include "host/delivery/injection_slot.h"
#include "host/delivery/intent_log.h"
#include "host/delivery/receipt_reporter.h"
#include "host/delivery/silent_deliveries.h"

namespace relay::host {

inline constexpr Millis kTurnStartTimeout{500};            // from the proof of a text to the start of its turn
inline constexpr Millis kReportUnprovenAfter{10'000};      // an accepted delivery without proof is reported as such
inline constexpr Millis kInDoubtAfter{60'000};             // without evidence from an idle agent: in doubt
inline constexpr std::size_t kMaxUnproven = 32;            // native deliveries of one mode
inline constexpr Millis kNativeRetry{5'000};               // after a failed native delivery whose mode cannot be typed
inline constexpr std::size_t kMaxSilentBytes = 16 * 1024;  // delivered with one message

/// How a delivery reaches the agent.
struct DeliveryRoute {
  enum class Kind : std::uint8_t {
    Interface,    // via `via`
    Typed,        // by the injector
    WithAnother,  // silent: with a delivery that wakes the agent
  };
  Kind kind = Kind::Typed;
  std::string_view via = {};
};

class DeliveryScheduler final : public SilentDeliveries {
 public:
  /// `native`: null when every delivery is typed or fetched.
  DeliveryScheduler(IntentLog& intent, InjectionSlot& injector, adapters::DeliveryTarget* native,
                    ReceiptReporter& reports)
      : intent_{intent}, injector_{injector}, native_{native}, reports_{reports} {}

  /// A delivery whose intent an earlier host logged is not delivered: its logged outcome is reported, or in doubt.
  void add(Delivery delivery);

  struct View {
    SteadyTime now{};
    WallMs wall = 0;
    profiles::State state = profiles::State::Unknown;
    profiles::Blocker blocker = profiles::Blocker::Dialog;  // of a blocked one
    SteadyTime since{};
    adapters::NativeCapabilities can = {};
    bool typed_into = true;  // false: no profile describes the program
  };
  /// Delivers what can be delivered now. Returns when to call again without a change.
  std::optional<SteadyTime> deliver(const View& view);

  /// For a hook call: the pending deliveries of its mode, together at most `max_bytes`.
  std::string take(protocol::DeliveryMode mode, std::size_t max_bytes, const View& view);
  /// The agent reports a model input with that id.
  void on_model_input(EvidenceMatcher& input, std::string_view via, std::string_view id);
  /// The agent returned these unread, in order. They are typed if their mode allows it; those already in doubt fail.
  void on_returned(const std::vector<std::string>& ids, std::string_view reason);
  /// Empty where a hook delivers them with the next prompt.
  std::vector<Delivery> take_silent(std::size_t max_bytes) override;
  void return_silent(std::vector<Delivery> deliveries) override;

  /// Pauses with that reason; none: continues.
  void pause(std::optional<std::string> reason) { paused_ = std::move(reason); }
  [[nodiscard]] const std::optional<std::string>& paused() const { return paused_; }
  /// The mode and the reference at the daemon have changed. An injection that has started continues.
  void move(const client::DeliveryRef& ref, protocol::DeliveryMode mode, Injection injection);
  /// Drops the delivery unless it has started. True when dropped.
  bool cancel(std::string_view id);

  /// The agent fetches these via MCP. Returns those that have not started; their intents are logged.
  std::vector<std::string> fetch(const std::vector<std::string>& ids);
  /// The response to the fetch was sent: its deliveries are delivered.
  void on_fetched();
  [[nodiscard]] std::vector<const Delivery*> fetchable() const;
  void on_agent_exit();

  /// How the delivery will reach the agent, or has been accepted by it.
  [[nodiscard]] DeliveryRoute route_of(const Delivery& delivery, const adapters::NativeCapabilities& can) const;
  /// All deliveries that are not final, in the order of delivery, unproven ones first.
  [[nodiscard]] std::vector<const Delivery*> pending() const;

 private:
  struct UnprovenDelivery {
    Delivery delivery;
    std::uint64_t key = 0;
    SteadyTime at{};
    std::string_view via = {};
    protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;  // in which it was delivered
    bool accepted = false;                                         // by the interface
    bool awaits_turn = false;                                      // none has started since
  };
  [[nodiscard]] FairQueue& lane(protocol::Lane which) { return lanes_[protocol::lane_code(which)]; }
  [[nodiscard]] FairQueue& silent_queue(protocol::Priority priority) {
    return silent_[static_cast<std::size_t>(priority)];
  }
  /// The queue a delivery belongs to.
  [[nodiscard]] FairQueue& queue_of(const Delivery& delivery);
  /// All queues, in the order they are served.
  [[nodiscard]] std::vector<FairQueue*> queues();
  void requeue(Delivery delivery) { queue_of(delivery).requeue(std::move(delivery)); }
  void reclaim_from_injector();
  std::optional<Delivery> extract(std::string_view id);
  void defer_paused();
  std::optional<SteadyTime> serve_silent(protocol::Priority priority, const View& view);
  void drop_expired(const View& view);
  std::optional<SteadyTime> serve(protocol::Lane which, const View& view);
  std::optional<SteadyTime> inject_from(FairQueue& from, protocol::Lane which, const View& view);
  /// The time by which the turn of a native delivery of that mode has started, or will not start.
  [[nodiscard]] SteadyTime turn_started_by(protocol::DeliveryMode mode) const;
  std::optional<SteadyTime> deliver_native(FairQueue& from, protocol::DeliveryMode mode, const View& view);
  void track_unproven(Delivery delivery, std::uint64_t key, protocol::DeliveryMode mode, std::string_view via);
  void on_accepted(std::uint64_t key, const Result<void>& outcome);
  void requeue_unproven(std::uint64_t key, std::string_view what);
  std::optional<SteadyTime> check_proofs(const View& view);
  /// The next one that fits, with its intent logged; none when none fits or the log cannot be written.
  std::optional<Delivery> take_logged(FairQueue& from, const std::function<bool(const Delivery&)>& fits);
  std::vector<Delivery> take_silent_if(std::size_t max_bytes, const std::function<bool(const Delivery&)>& fits);
  bool log_intent(Delivery& delivery);
  void defer(Delivery& delivery, std::string_view reason);
  void finish(const Delivery& delivery, protocol::Receipt receipt);

  IntentLog& intent_;
  InjectionSlot& injector_;
  adapters::DeliveryTarget* native_;
  ReceiptReporter& reports_;
  std::array<FairQueue, protocol::kLanes> lanes_;
  std::array<FairQueue, 2> silent_;
  std::optional<protocol::Lane> injector_lane_;  // the lane of the delivery at the injector
  bool injector_has_user_message_ = false;       // it is typed because it is the user's
  std::deque<UnprovenDelivery> unproven_;
  std::deque<UnprovenDelivery> in_doubt_;  // late evidence may still come; the newest kMaxUnproven
  std::vector<Delivery> fetched_;          // the response may not be sent yet
  SteadyTime now_{};
  SteadyTime last_seen_{};
  bool has_transcript_ = false;
  bool has_terminal_ = true;
  bool hook_delivers_silent_ = false;
  std::uint64_t last_key_ = 0;
  std::optional<std::string> paused_;
  Lifetime lifetime_;
};

}  // namespace relay::host
