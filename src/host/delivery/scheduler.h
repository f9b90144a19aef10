/// Which way each message goes to the agent, and when: by one of the agent's own doors, or to the mailroom to be typed.
///
///     arrives ─▶ lane of its mode and priority ──moment has come──▶ handed over ──its record shows it──▶ delivered, seen
///                     │ no native way: the mailroom types it (on-idle, immediate)
///                     └ the agent's hook takes it (next-message, next-tool-call), or it is fetched (manual)
///     quiet ones (state, ack) wait in lanes of their own: for a hook, or for company on its way
///
/// Invariants
/// - Urgent lanes come before all others, and inside a lane the senders take turns (letter_queue.h). What finds no room
///   in a way waits for its next chance with its sender's later ones; those of others go on.
/// - A message goes one way: once handed over nobody types it. Only when the way said that it took nothing, or gave it back
///   unread, does it go one step down, with the reason in the ledger.
/// - The note of intent is on disk before anything is handed over, as before the first typed byte.
/// - Nothing is handed over while the agent asks something, or before it is known to be ready.
/// - Delivered is said when the agent's record shows the text; where there is no record, when the agent began to work
///   after it took it. What is not shown by an agent that has long been at rest is in doubt; what begins no turn, only
///   after a turn that should have shown it.
/// - What has cut a turn short is the next that begins one: nothing goes before it but a person's draft.
/// - Nothing interrupts a turn while what was just handed over is not shown: the program may drop it with the turn.
/// - What the user says goes by no way that presents it as a peer's: it is typed, and waits for the gate.
/// - Nothing is handed over between a typed text and its Enter, and nothing is typed while the turn of a message that was
///   handed over is about to start.
/// - A user's message that waits for the end of a turn holds back other messages for idle agents, not urgent ones.
/// - While the agent is paused nothing new goes any way; what has begun is finished, and who fetches is given.
/// - What wakes nobody never begins a turn, is never typed alone and interrupts nothing.
/// - Why a message waits is reported when the reason changes; its end exactly once. What expired goes nowhere.
/// Ownership: borrows the intent log, the injector, the native interface and the reporter, which outlive it. Threading: loop thread only; the clock is an argument.
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
#include "host/delivery/injection_queue.h"
#include "host/delivery/intent_log.h"
#include "host/delivery/receipt_reporter.h"
#include "host/delivery/silent_deliveries.h"

namespace relay::host {

inline constexpr Millis kTurnSettle{500};                 // after a text was seen: its turn shows by then
inline constexpr Millis kProofTimeout{10'000};            // for the record to show what was handed over
inline constexpr Millis kProofLimit{60'000};              // at rest for that long without it, nobody knows
inline constexpr std::size_t kMaxHanded = 32;             // of one mode in the agent's hands at once
inline constexpr Millis kNativeRetry{5'000};              // after a way took nothing, for modes that cannot be typed
inline constexpr std::size_t kMaxQuietBytes = 16 * 1024;  // that go along with one message

class DeliveryScheduler final : public SilentDeliveries {
 public:
  /// `native`: the agent's own interface; none: every delivery is typed or fetched.
  DeliveryScheduler(IntentLog& intent, InjectionQueue& injector, adapters::DeliveryTarget* native,
                    ReceiptReporter& reports)
      : intent_{intent}, injector_{injector}, native_{native}, reports_{reports} {}

  /// A message of somebody's. One that a predecessor may have brought is not taken: reported is what the predecessor knew
  /// of its end, else that it is in doubt.
  void add(Delivery letter);

  struct View {
    SteadyTime now{};
    WallMs wall = 0;
    profiles::State state = profiles::State::Unknown;
    profiles::Blocker blocker = profiles::Blocker::Known;  // of a blocked one
    SteadyTime since{};
    adapters::NativeCapabilities can = {};
    bool typed_into = true;  // false: no profile describes the program
  };
  /// Does what can be done now. When to be asked again without any change.
  std::optional<SteadyTime> deliver(const View& view);

  /// The agent's hook is here: what waits for it, together at most so many bytes.
  std::string take(protocol::DeliveryMode mode, std::size_t max_bytes, const View& view);
  /// The agent itself says that this was put before its model, and under which id it does.
  void on_given(EvidenceMatcher& shown, std::string_view way, std::string_view id);
  /// The agent gave these back unread, in their order. They are typed, where their mode can be; those that were given up have
  /// failed.
  void on_returned(const std::vector<std::string>& deliveries, std::string_view reason);
  /// Quiet ones that go along with what is typed, noted; their texts and line breaks fit so many bytes. None where a
  /// hook takes them with the next prompt.
  std::vector<Delivery> take_silent(std::size_t max_bytes) override;
  void return_silent(std::vector<Delivery> deliveries) override;

  /// Nothing new goes to the agent, and why; none: it goes on.
  void pause(std::optional<std::string> why) { paused_ = std::move(why); }
  [[nodiscard]] const std::optional<std::string>& paused() const { return paused_; }
  /// It waits for another moment from now on, in that place of the daemon's books. What has begun goes on.
  void move(const client::DeliveryRef& place, protocol::DeliveryMode mode, Injection injection);
  /// It is not wanted any more: dropped, unless it has begun.
  bool cancel(std::string_view delivery);

  /// The agent asks for these of its mail (MCP). Those that nobody has begun to bring, noted and in its hands from now
  /// on, may be shown to it.
  std::vector<std::string> fetch(const std::vector<std::string>& ids);
  /// What was fetched has been shown: it is delivered.
  void on_fetched();
  [[nodiscard]] std::vector<const Delivery*> fetchable() const;
  void on_agent_gone();

  /// By which of the agent's ways it went or will go; none: it has to be typed. Empty: with another message.
  [[nodiscard]] std::optional<std::string_view> way_of(const Delivery& letter,
                                                       const adapters::NativeCapabilities& can) const;
  /// Everything that is not over, as it would go; handed ones first.
  [[nodiscard]] std::vector<const Delivery*> waiting() const;

 private:
  struct UnprovenDelivery {
    Delivery letter;
    std::uint64_t key = 0;
    SteadyTime at{};
    std::string_view via = {};
    protocol::DeliveryMode mode = protocol::DeliveryMode::OnIdle;  // in which it went
    bool taken = false;                                            // the way said so
    bool awaits_turn = false;                                      // it began none, and none has run since
  };
  [[nodiscard]] FairQueue& lane(protocol::Lane which) { return lanes_[protocol::lane_code(which)]; }
  [[nodiscard]] FairQueue& quiet(protocol::Priority priority) { return quiet_[static_cast<std::size_t>(priority)]; }
  /// Where a letter waits.
  [[nodiscard]] FairQueue& home(const Delivery& letter);
  /// All queues, in the order they are served.
  [[nodiscard]] std::vector<FairQueue*> queues();
  void put_back(Delivery letter) { home(letter).put_back(std::move(letter)); }
  void clear_gate();
  std::optional<Delivery> extract(std::string_view delivery);
  void hold_all();
  std::optional<SteadyTime> serve_quiet(protocol::Priority priority, const View& view);
  void drop_expired(const View& view);
  std::optional<SteadyTime> serve(protocol::Lane which, const View& view);
  std::optional<SteadyTime> type_from(FairQueue& from, protocol::Lane which, const View& view);
  /// When the turn of what was handed over in that mode has started or will not start any more.
  [[nodiscard]] SteadyTime turn_started_by(protocol::DeliveryMode mode) const;
  std::optional<SteadyTime> deliver_native(FairQueue& from, protocol::DeliveryMode mode, const View& view);
  void into_its_hands(Delivery letter, std::uint64_t key, protocol::DeliveryMode mode, std::string_view way);
  void on_handed(std::uint64_t key, const Result<void>& outcome);
  void take_back_handed(std::uint64_t key, std::string_view what);
  std::optional<SteadyTime> check_proofs(const View& view);
  /// The next one that fits, noted; none when none does or the note cannot be written.
  std::optional<Delivery> take_noted(FairQueue& from, const std::function<bool(const Delivery&)>& fits);
  std::vector<Delivery> take_quiet_if(std::size_t max_bytes, const std::function<bool(const Delivery&)>& fits);
  bool log_intent(Delivery& letter);
  void wait(Delivery& letter, std::string_view reason);
  void end(const Delivery& letter, protocol::Receipt receipt);

  IntentLog& intent_;
  InjectionQueue& injector_;
  adapters::DeliveryTarget* native_;
  ReceiptReporter& reports_;
  std::array<FairQueue, protocol::kLanes> lanes_;
  std::array<FairQueue, 2> quiet_;
  std::optional<protocol::Lane> at_gate_;  // of the last one that was given to be typed
  bool user_at_gate_ = false;              // it is typed because the user says it
  std::deque<UnprovenDelivery> handed_;
  std::deque<UnprovenDelivery> doubted_;  // given up, and shown after all, perhaps; the newest kMaxHanded
  std::vector<Delivery> fetched_;         // and perhaps not shown yet
  SteadyTime now_{};
  SteadyTime last_seen_{};
  bool has_record_ = false;
  bool has_terminal_ = true;
  bool hook_takes_quiet_ = false;
  std::uint64_t last_key_ = 0;
  std::optional<std::string> paused_;
  Lifetime lifetime_;
};

}  // namespace relay::host
