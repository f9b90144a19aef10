/// The scripted agent as a state machine: keys and time in, terminal bytes out, every step logged.
///
///          Enter             work done, rule has a dialog           Enter or Esc
///   Idle ────────▶ Working ─────────────────────────────▶ Blocked ───────────────▶ Replying ──▶ Idle
///                     └──────────────── no dialog ────────────────────────────────────▲
///
/// The dialog opens *silently*: no bell, no title; it swallows typed text, and Enter approves. All real agents behave like
/// this, and a relay must never answer such a dialog by accident. Prompts that arrive while it works are queued. A moment
/// of the script opens a dialog in any state; after the answer that state continues and the composer is unchanged.
#pragma once

#include <deque>
#include <optional>

#include "scripted_agent/journal.h"
#include "scripted_agent/keys.h"
#include "scripted_agent/options.h"
#include "scripted_agent/screen.h"
#include "scripted_agent/script.h"

namespace relay::scripted_agent {

class Agent {
 public:
  /// The journal outlives it.
  Agent(Options options, Script script, const Journal& journal);

  void start(std::size_t columns, std::size_t rows);
  void on_key(const Key& key, SteadyTime now);
  void on_time(SteadyTime now);
  void on_resize(std::size_t columns, std::size_t rows);

  /// When `on_time` must be called next.
  [[nodiscard]] std::optional<SteadyTime> wake_at() const;
  /// The pending output for the terminal; during a flood, its next chunk.
  std::string take_output();
  [[nodiscard]] bool has_output() const { return !output_.empty() || flood_bytes_ > 0; }
  [[nodiscard]] bool finished() const { return exit_code_.has_value(); }
  [[nodiscard]] int exit_code() const { return exit_code_.value_or(0); }
  /// The final bytes: clears the composer and resets the modes.
  std::string farewell();

 private:
  enum class State : std::uint8_t { Idle, Working, Blocked, Replying };

  void key_in_composer(const Key& key, SteadyTime now);
  void key_in_dialog(const Key& key, SteadyTime now);
  void on_enter(SteadyTime now);
  void on_control_c();
  void paste(const std::string& text, SteadyTime now);
  void answer(const std::string& text, SteadyTime now);
  /// Takes the next moment of this kind from the script, if any.
  void reach(Moment::When when, SteadyTime now);
  void happen();
  void leave(int code, std::string_view by);
  void submit(const std::string& text, SteadyTime now);
  void start_turn(const std::string& prompt, SteadyTime now);
  void open_dialog(const Dialog& dialog);
  void start_reply(const std::string& text, SteadyTime now);
  void show_more(SteadyTime now);
  void become_idle(SteadyTime now);
  void interrupt();
  void enter(State state);
  void draw();

  static constexpr std::size_t kMaxPendingPrompts = 100;

  Options options_;
  Script script_;
  const Journal& journal_;
  Screen screen_;
  State state_ = State::Idle;
  View view_;
  Answer answer_;  // to the current prompt
  std::string prompt_;
  std::string reply_;  // the whole; view_.reply is its visible part
  std::deque<std::string> pending_;
  std::vector<std::string> folded_;  // pastes that the composer shows as [Pasted text #1], #2, ...
  Moment moment_;                    // the current one
  std::optional<SteadyTime> moment_at_;
  std::optional<State> interrupted_;  // by the dialog of a moment
  SteadyTime work_until_{}, next_frame_{}, next_chunk_{};
  std::optional<SteadyTime> last_text_;
  std::size_t frame_ = 0;
  std::size_t flood_bytes_ = 0, flood_line_ = 0;
  bool control_c_seen_ = false;
  std::optional<int> exit_code_;
  std::string output_;
};

}  // namespace relay::scripted_agent
