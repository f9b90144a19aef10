/// The input of the agent's program: keys of the user, unchanged and at once, and what the host writes, never in
/// between.
///
/// While a message of ours is unsent in the composer, the user's keys are held (held_input.h) and follow in their
/// order. Keys that were held when a dialog opened were pressed for the composer: they stay held until the dialog has
/// closed, and keys pressed from then on go to the dialog at once.
/// Invariants: bytes reach the program in order, except those that a dialog overtakes; a sequence or paste that was
///   held in part is held as a whole; what the program does not take is queued here, and the user is paused meanwhile,
///   so at most one read of keys and one message are queued. Held keys count as typed when they are written. A
///   terminal's replies are passed on like keys and never count as typing, however they are cut; a lone Escape counts
///   as the user's.
/// Bounds: of a paste that is held behind a dialog the bytes beyond kMaxHeldBytes are discarded; the user must be able
///   to answer the dialog, and they must not reach it.
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

inline constexpr Millis kDialogSettle{150};  // a closed dialog must stay closed that long: another may follow it

/// Which keys of the user are held.
enum class KeyHold : std::uint8_t {
  None,
  All,             // a message is unsent: for kMaxHeld
  Earlier,         // a dialog is open: those that were held when it was drawn
  EarlierBounded,  // perhaps one is open: the same for kMaxHeld
  Frame,           // a frame is being drawn, perhaps a dialog's: as before, and what is held stays held
};

/// What decides which keys are held.
struct KeyHoldView {
  profiles::State state = profiles::State::Unknown;      // by all that is known
  profiles::Blocker blocker = profiles::Blocker::Dialog;  // of a blocked one
  profiles::State screen = profiles::State::Unknown;
  bool mid_frame = false;       // a frame is incomplete; the watcher bounds its time
  bool message_unsent = false;  // a message of ours is in the composer
  bool overtaken = false;       // keys are held that a dialog overtook
};
[[nodiscard]] KeyHold key_hold(const KeyHoldView& view);

class AgentInput {
 public:
  /// `on_crowded` is told whether the user must be kept from typing for now.
  explicit AgentInput(std::move_only_function<void(bool)> on_crowded) : on_crowded_{std::move(on_crowded)} {}

  /// Input before that is queued.
  void connect(pty::Program& program);

  /// Of the user, at any terminal.
  void on_user_input(std::string_view bytes, SteadyTime now);
  /// Of the host.
  void write(std::string_view bytes);
  /// Which keys are held from now on; the others are written. True when keys were written. `drawn_at`: a dialog that is
  /// recognised only now was drawn then, and keys typed since are for it.
  bool hold(KeyHold hold, SteadyTime now, std::optional<SteadyTime> drawn_at = {});
  /// Keys that a dialog overtook are still held.
  [[nodiscard]] bool overtaken() const { return overtaken_; }
  /// For `explain`; none while nothing is held.
  struct Held {
    std::size_t bytes = 0;
    std::size_t discarded = 0;
    std::optional<SteadyTime> since = {};
    bool dialog = false;
  };
  [[nodiscard]] Held describe_held() const;
  /// The held keys, for the injection.
  [[nodiscard]] HeldKeys held(SteadyTime now);
  /// When `hold` must be called again without any change.
  [[nodiscard]] std::optional<SteadyTime> due() const;
  /// The program took some of the queue.
  void on_writable();

  /// The program has taken everything.
  [[nodiscard]] bool empty() const;
  [[nodiscard]] const TypingTimes& typing() const { return typing_; }
  /// Keys that are not drawn yet count as typing too.
  void extend_typing(SteadyTime now) { typing_.any = now; }

 private:
  void hold_input(std::string_view bytes, SteadyTime now);
  void pass_input(std::string_view bytes, SteadyTime now);
  /// The end of a sequence or paste goes where its beginning went. Returns the rest.
  std::string_view finish_fragment(std::string_view bytes, SteadyTime now);
  void expire(SteadyTime now);
  [[nodiscard]] bool earlier_only() const { return hold_ == KeyHold::Earlier || hold_ == KeyHold::EarlierBounded; }
  bool release(SteadyTime now);
  bool pass_since(SteadyTime drawn_at);
  void pass_replies(SteadyTime now);
  void count(const std::vector<terminal::InputEvent>& pieces, SteadyTime at);

  pty::Program* program_ = nullptr;
  std::move_only_function<void(bool)> on_crowded_;
  std::string waiting_;
  bool crowded_ = false;
  KeyHold hold_ = KeyHold::None;  // never Frame
  bool in_frame_ = false;
  HeldInput held_;
  bool fragment_held_ = false;  // what the splitter has not finished is held
  bool overtaken_ = false;      // by a dialog
  std::size_t discarded_ = 0;   // of a fragment
  SteadyTime settled_at_{};     // a dialog that closed counts as closed
  terminal::InputSplitter splitter_;
  SteadyTime last_typed_{};  // also what is held in the splitter
  TypingTimes typing_;
};

}  // namespace relay::host
