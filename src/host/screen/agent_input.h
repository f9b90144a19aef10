/// The input of the agent's program: the user's keys, unchanged and at once, and the host's own input, never mixed.
///
/// While an injected message is unsent in the composer, the user's keys are held (held_input.h) and follow in order. Keys
/// that were held when a dialog opened were pressed for the composer: they stay held until the dialog has closed, and
/// later keys go to the dialog at once.
/// Invariants: bytes reach the program in order, except those that a dialog overtakes; a sequence or paste is held or
///   passed as a whole; bytes that the program does not read are queued and the user is paused, so at most one read of
///   keys and one message are queued. Held keys count as typed when they are written. Replies of a terminal are passed
///   like keys and never count as typing, however they are cut; a lone Escape counts as the user's.
/// Bounds: bytes of a paste beyond kMaxHeldBytes that is held behind a dialog are discarded; they must not reach the
///   dialog, and the user must be able to answer it.
/// Ownership: borrows the program, which outlives it. Threading: loop thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "host/delivery/injection.h"
#include "host/screen/held_input.h"
#include "pty/program.h"
#include "terminal/input_splitter.h"

namespace relay::host {

inline constexpr Millis kDialogClosedTime{150};  // a dialog counts as closed after that: another may follow

/// Which keys of the user are held.
enum class KeyHold : std::uint8_t {
  None,
  All,             // a message is unsent: for kMaxHeld
  Earlier,         // a dialog is open: keys that were held when it was drawn
  EarlierBounded,  // a dialog may be open: likewise, for kMaxHeld
  Frame,           // a frame is being drawn, perhaps a dialog: unchanged, and no key is released
};

/// Determines which keys are held.
struct KeyHoldView {
  profiles::State state = profiles::State::Unknown;       // by screen and native interfaces
  profiles::Blocker blocker = profiles::Blocker::Dialog;  // of a blocked one
  profiles::State screen = profiles::State::Unknown;
  bool mid_frame = false;       // a frame is incomplete; the watcher bounds its time
  bool message_unsent = false;  // an injected message is in the composer
  bool overtaken = false;       // held keys are behind a dialog
};
[[nodiscard]] KeyHold key_hold(const KeyHoldView& view);

class AgentInput {
 public:
  /// `on_backpressure(active)`: the user must not type while it is active.
  explicit AgentInput(std::move_only_function<void(bool active)> on_backpressure)
      : on_backpressure_{std::move(on_backpressure)} {}

  /// Earlier input is queued.
  void connect(pty::Program& program);

  /// Input of the user, from any terminal.
  void on_user_input(std::string_view bytes, SteadyTime now);
  /// Input of the host.
  void write(std::string_view bytes);
  /// Sets which keys are held; the others are written. True when keys were written. `drawn_at`: when a dialog that was
  /// recognized only now was drawn; keys typed since then are for it.
  bool hold(KeyHold hold, SteadyTime now, std::optional<SteadyTime> drawn_at = {});
  /// Keys that a dialog overtook are still held.
  [[nodiscard]] bool overtaken() const { return overtaken_; }
  /// For `explain`; zero bytes while nothing is held.
  struct Held {
    std::size_t bytes = 0;
    std::size_t discarded = 0;
    std::optional<SteadyTime> since = {};
    bool dialog = false;
  };
  [[nodiscard]] Held describe_held() const;
  /// The held keys, for the injection.
  [[nodiscard]] HeldKeys held(SteadyTime now);
  /// When to call `hold` again without a change.
  [[nodiscard]] std::optional<SteadyTime> due() const;
  /// The program has read a part of the queue.
  void on_writable();

  /// The program has read everything.
  [[nodiscard]] bool empty() const;
  [[nodiscard]] const TypingTimes& typing() const { return typing_; }
  /// Keys that are not drawn yet count as typing.
  void extend_typing(SteadyTime now) { typing_.any = now; }

 private:
  void hold_input(std::string_view bytes, SteadyTime now);
  void pass_input(std::string_view bytes, SteadyTime now);
  /// The end of a sequence or paste follows its start, held or passed. Returns the remaining bytes.
  std::string_view finish_fragment(std::string_view bytes, SteadyTime now);
  void expire(SteadyTime now);
  [[nodiscard]] bool earlier_only() const { return hold_ == KeyHold::Earlier || hold_ == KeyHold::EarlierBounded; }
  bool release(SteadyTime now);
  bool pass_since(SteadyTime drawn_at);
  void pass_replies(SteadyTime now);
  void record_typing(const std::vector<terminal::InputEvent>& pieces, SteadyTime at);

  pty::Program* program_ = nullptr;
  std::move_only_function<void(bool active)> on_backpressure_;
  std::string pending_;
  bool is_backpressured_ = false;
  KeyHold hold_ = KeyHold::None;  // never Frame
  bool in_frame_ = false;
  HeldInput held_;
  bool fragment_held_ = false;     // an incomplete sequence is held
  bool overtaken_ = false;         // by a dialog
  std::size_t discarded_ = 0;      // of a fragment
  SteadyTime dialog_closed_at_{};  // when a closed dialog counts as closed
  terminal::InputSplitter splitter_;
  SteadyTime last_typed_{};  // including an incomplete sequence
  TypingTimes typing_;
};

}  // namespace relay::host
