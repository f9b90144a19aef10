/// A coding agent on a virtual loop: a composer, turns and dialogs, drawn on its screen after a delay.
///
/// It reads input after a delay and draws whole frames, optionally in two pieces. A test sees what the terminal showed
/// when a key was written, which distinguishes a key pressed before a dialog from one typed into it.
/// Keys of the user and of the host differ: the user presses the keypad's Enter, Ctrl-U and Escape; the host pastes,
/// presses Enter, Backspace and Ctrl-C.
/// Ownership: borrows loop and listener, which outlive it. Threading: one thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/event_loop.h"
#include "profiles/profile.h"
#include "pty/program.h"

namespace relay::host::testing {

inline constexpr std::string_view kUserEnter = "\x1bOM";
inline constexpr std::string_view kUserClear = "\x15";
inline constexpr std::string_view kUserEscape = "\x1b";

struct AgentKey {
  enum class Kind { Text, UserEnter, Clear, Escape, Paste, Enter, Backspace, Interrupt, Up, Down, Other };
  Kind kind = Kind::Other;
  std::string text = {};
  bool dialog_shown = false;  // on the terminal when it was written

  [[nodiscard]] bool by_host() const { return kind >= Kind::Paste && kind != Kind::Other; }
};

/// What the agent's terminal shows.
struct AgentView {
  bool drawn = false;
  bool dialog = false;
  std::string command = {};    // of the dialog
  bool approve_marked = true;  // in the dialog
  bool working = false;
  std::string composer = {};
};

class FakeAgent final : public pty::Program {
 public:
  struct Options {
    std::function<Millis()> read_delay = [] { return Millis{1}; };
    std::function<Millis()> draw_delay = [] { return Millis{10}; };
    std::function<Millis()> turn = [] { return Millis{400}; };
    std::function<bool()> tears_frame = [] { return false; };             // a frame arrives in two pieces
    std::function<bool()> loses_enter = [] { return false; };             // a key press is lost
    std::function<bool()> opens_dialog_in_turn = [] { return false; };    // a turn opens a dialog before it ends
    std::function<bool()> paste_meets_dialog = [] { return false; };      // a dialog opens just before a paste is read
    std::function<std::string()> dialog_command = [] { return "make"; };  // of a dialog that the agent opens
    bool reports_status = true;                                           // OSC 7501
    // What a test observes.
    std::function<void(const AgentKey& key, const AgentView& shown)> on_written = [](const auto&, const auto&) {};
    std::function<void(const std::string& prompt, bool by_host)> on_submit = [](const auto&, bool) {};
    std::function<void(const std::string& prompt)> on_receive = [](const auto&) {};
    std::function<void(const AgentKey& key)> on_dialog_key = [](const auto&) {};
    std::function<void(const std::string& command, bool approved, bool by_host)> on_dialog_closed = [](const auto&,
                                                                                                       bool, bool) {};
  };

  FakeAgent(net::EventLoop& loop, pty::ProgramListener& listener, pty::WindowSize size, Options options);

  /// The profile of its screen.
  static profiles::Profile profile();

  void open_dialog() { open_dialog(options_.dialog_command()); }
  void open_dialog(std::string command);
  /// A prompt via a native interface.
  void receive(std::string prompt);
  [[nodiscard]] bool has_dialog() const { return !dialog_.empty(); }
  [[nodiscard]] bool is_working() const { return working_; }
  [[nodiscard]] bool has_exited() const { return ended_.has_value(); }
  [[nodiscard]] const std::string& composer() const { return composer_; }
  [[nodiscard]] const AgentView& shown() const { return shown_; }
  /// The view of a frame whose first piece is on the terminal.
  [[nodiscard]] const std::optional<AgentView>& half_drawn() const { return half_drawn_; }
  /// The prompts it received, oldest first.
  [[nodiscard]] const std::vector<std::string>& prompts() const { return prompts_; }
  /// The output at the end of the next turn, instead of "Done.".
  void set_reply(std::string text) { reply_ = std::move(text); }
  /// The agent exits by itself.
  void exit(int code);

  [[nodiscard]] pid_t pid() const override { return kPid; }
  std::size_t write(std::string_view bytes) override;
  [[nodiscard]] std::size_t input_waiting() const override { return 0; }
  void pause_output() override { paused_ = true; }
  void resume_output() override;
  Result<void> resize(pty::WindowSize size) override;
  void end(Millis grace) override;

 private:
  static constexpr pid_t kPid = 0x3fffffff;  // of no process

  [[nodiscard]] std::optional<AgentKey> next_key();
  void read_one();
  void on_key(const AgentKey& key);
  void on_dialog_key(const AgentKey& key);
  void take_prompt(std::string prompt);
  void start_turn();
  void end_turn();
  void become_idle();
  void changed();
  void draw();
  void show_piece();
  [[nodiscard]] std::string frame() const;

  struct Piece {
    std::string bytes;
    std::optional<AgentView> completes;  // the frame it ends
  };

  net::EventLoop& loop_;
  pty::ProgramListener& listener_;
  pty::WindowSize size_;
  Options options_;
  std::string unparsed_;
  std::deque<AgentKey> keys_;  // written and not read
  std::string composer_;
  std::string dialog_;  // the command of the open dialog; empty: none is open
  bool approve_marked_ = true;
  bool working_ = false;
  bool opens_dialog_ = false;  // before this turn ends
  std::deque<std::string> queued_;
  std::vector<std::string> prompts_;
  std::vector<std::string> conversation_;
  std::string reply_;
  std::deque<Piece> pieces_;
  AgentView shown_;
  std::optional<AgentView> half_drawn_;
  bool paused_ = false;
  std::optional<pty::ExitStatus> ended_;
  std::unique_ptr<net::Timer> read_timer_, draw_timer_, piece_timer_, turn_timer_, end_timer_;
};

}  // namespace relay::host::testing
