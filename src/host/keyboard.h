/// The one way into the agent's input: what people type, unchanged and at once, and what we write, never in between.
///
/// While a message of ours stands in the composer the user's keys are held (held_input.h), and follow in their order.
/// Invariants: bytes reach the program in the order they were given; what it does not take waits here, and whoever
///   types is paused meanwhile, so at most one turn of typing and one message wait. Held keys count as typed when they are
///   written. A terminal's replies are passed on
///   like keys and never count as typing, however they are cut; an Escape that may be alone counts as the person's.
/// Ownership: borrows the program, which outlives it. Threading: loop thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "host/held_input.h"
#include "host/injection.h"
#include "pty/program.h"
#include "terminal/input_splitter.h"

namespace relay::host {

class Keyboard {
 public:
  /// `on_crowded` hears whether people should be kept from typing for now.
  explicit Keyboard(std::move_only_function<void(bool)> on_crowded) : on_crowded_{std::move(on_crowded)} {}

  /// What is typed before that waits.
  void connect(pty::Program& program);

  /// By a person, wherever the person sits.
  void person_types(std::string_view bytes, SteadyTime now);
  /// By us.
  void write(std::string_view bytes);
  /// Holds the user's keys back from now on, or lets them follow. Keys that were held for kMaxHeld follow in any case.
  /// True when keys followed.
  bool hold(bool holds, SteadyTime now);
  /// What waits, as the injection wants to know it.
  [[nodiscard]] HeldKeys held(SteadyTime now);
  /// When `hold` must be called again although nothing has changed.
  [[nodiscard]] std::optional<SteadyTime> due() const;
  /// The program took some of what waited.
  void on_room();

  /// Nothing is on its way to the program.
  [[nodiscard]] bool empty() const;
  [[nodiscard]] const Typing& typing() const { return typing_; }
  /// What people typed may not have been drawn yet: that counts as typing too.
  void still_typing(SteadyTime now) { typing_.any = now; }

 private:
  void hold_input(std::string_view bytes, SteadyTime now);
  bool release(SteadyTime now);
  void pass_replies(SteadyTime now);
  void count(const std::vector<terminal::InputPiece>& pieces, SteadyTime at);

  pty::Program* program_ = nullptr;
  std::move_only_function<void(bool)> on_crowded_;
  std::string waiting_;
  bool crowded_ = false;
  bool holds_ = false;
  HeldInput held_;
  terminal::InputSplitter splitter_;
  SteadyTime last_typed_{};  // also what is held in the splitter
  Typing typing_;
};

}  // namespace relay::host
