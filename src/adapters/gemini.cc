/// Gemini CLI: hooks and its chat file; it has no interface for delivery while it is idle, so texts are typed.
///
/// Its hooks are not always available (hooks/wiring.h), so its transcript is also found without them: this adapter chooses
/// the session's id, and the file's name ends with its first digits. Without hooks nothing reports that the user switched
/// to another transcript (`/clear`, `/resume`), or that Gemini restarted itself. So each turn must be in the followed
/// transcript; if it is not, the prompt that started it identifies the right one (gemini_chats.h), or the transcript is
/// reported as lost and the screen is read.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "adapters/agents.h"
#include "adapters/gemini_chats.h"
#include "adapters/hook_adapter.h"
#include "adapters/poll_interval.h"
#include "base/format.h"
#include "base/random.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr WallMs kTurnSlack = 2'000;  // a prompt is written a little before the turn is visible
// Polls for the prompt of a turn, until a transcript has it. A prompt is written when its turn starts. A command of the
// user may run for hours and is in none; each poll reads the project's prompts and the heads of its transcripts.
constexpr Millis kFirstTurnPoll{500};
constexpr Millis kMaxTurnPoll{8'000};
// Output of a user's command is written after its turn. The screen is read when it was unchanged for 600 ms.
constexpr Millis kLateLineDelay{300};
constexpr Millis kRestartPollInterval{1'000};  // for the transcript of a Gemini that restarted itself
constexpr int kMaxRestartPolls = 60;

/// Options by which the user chooses the session, or requests no conversation.
constexpr std::string_view kSessionOptions[] = {"--session-id",
                                                "--session-file",
                                                "--resume",
                                                "-r",
                                                "--acp",
                                                "--experimental-acp",
                                                "-p",
                                                "--prompt",
                                                "mcp",
                                                "skills",
                                                "hooks",
                                                "extensions",
                                                "--help",
                                                "-h",
                                                "--version",
                                                "-v",
                                                "--list-sessions"};

bool user_chooses_session(const std::vector<std::string>& argv) {
  for (const std::string_view word : argv)
    for (const auto option : kSessionOptions)
      if (word == option || (word.starts_with(option) && word.substr(option.size()).starts_with('='))) return true;
  return false;
}

class Gemini final : public HookAdapter {
 public:
  explicit Gemini(net::AsioLoop& loop) : HookAdapter{loop, hooks::AgentCli::Gemini, transcripts::gemini_reader} {}

  void prepare(pty::Command& command, const LaunchContext& context) override {
    HookAdapter::prepare(command, context);
    auto home = pty::variable(command.environment, "GEMINI_CLI_HOME");
    if (home.empty()) home = pty::variable(command.environment, "HOME");
    chats_root_ = std::string{home} + "/.gemini/tmp";
    if (user_chooses_session(command.argv) || fs::path{command.argv.front()}.filename() != "gemini") return;
    SystemRandom random;
    id_ = uuid(random);
    command.argv.insert(command.argv.begin() + 1, {"--session-id", id_});
  }
  void start(Listener& listener, pid_t agent) override {
    started_at_ = loop().now().wall;
    HookAdapter::start(listener, agent);
  }
  [[nodiscard]] NativeCapabilities capabilities() const override {
    auto can = HookAdapter::capabilities();
    can.prompts = {};  // its hooks report a permission prompt and cannot answer it
    return can;
  }
  void on_state(profiles::State state) override {
    HookAdapter::on_state(state);
    if (id_.empty() || has_ended()) return;
    if (!follows()) find_own_transcript();
    if (has_called_hooks()) return;  // its hooks name the transcript
    recheck_timer_ = nullptr;        // a dialog may stay open
    if (state == profiles::State::Working) {
      end_timer_ = nullptr;
      if (turn_)
        schedule_poll();
      else
        start_turn();
    } else if (turn_ && (state == profiles::State::Idle || state == profiles::State::Typing)) {
      if (find_turn()) return end_turn();
      end_timer_ = loop().after(kLateLineDelay, [this] { end_turn(); });
    }
  }
  void on_agent_exit() override {
    if (turn_) find_turn();
    turn_.reset();
    restart_timer_ = nullptr;
    stop_turn_timers();
    HookAdapter::on_agent_exit();
  }

 private:
  /// Gemini accepts no instructions on its command line.
  [[nodiscard]] std::string session_context() const override { return context().instructions; }

  static std::string uuid(Random& random) {
    const auto digits = random.hex(16);
    const auto part = [&](std::size_t from, std::size_t count) { return digits.substr(from, count); };
    return format("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 4), part(13, 3), part(17, 3), part(20, 12));  // of version 4
  }

  /// Follows the transcript of the session with the chosen id.
  void find_own_transcript() {
    if (!transcript_path().empty() && session() != id_) return;
    const auto path = find_gemini_chat_of(chats_root_, id_);
    if (path.empty() || path == transcript_path()) return;
    if (transcript_path().empty())
      follow(path, id_, started_at_);
    else
      move(path, id_, screen_turn_ended_at_);
  }

  void on_transcript_lost() override {
    restart_polls_ = 0;
    poll_for_restart();
  }
  void poll_for_restart() {
    restart_timer_ = nullptr;
    find_own_transcript();
    if (has_lost_transcript() && ++restart_polls_ < kMaxRestartPolls)
      restart_timer_ = loop().after(kRestartPollInterval, [this] { poll_for_restart(); });
  }

  void stop_turn_timers() {
    recheck_timer_ = nullptr;
    end_timer_ = nullptr;
  }
  void start_turn() {
    turn_ = std::max(loop().now().wall - kTurnSlack, last_turn_ended_at_);
    poll_interval_.reset();
    if (!find_turn()) schedule_poll();
  }
  void schedule_poll() {
    recheck_timer_ = loop().after(poll_interval_.next(), [this] {
      recheck_timer_ = nullptr;
      if (!find_turn()) schedule_poll();
    });
  }

  /// True if the followed transcript has the turn, or another one does, which is then followed.
  bool find_turn() {
    if (transcript_path().empty()) return true;  // no transcript was found yet: the screen is read
    struct stat status{};
    const bool exists = ::stat(transcript_path().c_str(), &status) == 0;
    if (exists && status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000 >= *turn_) return true;
    const auto chats = fs::path{transcript_path()}.parent_path();
    prompts_ = read_gemini_prompts((chats.parent_path() / "logs.json").string(), id_, *turn_, started_at_);
    const auto chat = find_gemini_chat(chats.string(), prompts_);
    matches_ = chat.matches;
    if (chat.path.empty() || chat.path == transcript_path()) return false;
    move(chat.path, chat.session, std::max(*turn_, screen_turn_ended_at_));
    return true;
  }

  void end_turn() {
    stop_turn_timers();
    if (!find_turn() && (!prompts_.readable || has_model_prompt(prompts_)))
      lose_transcript(format("its last turn is not in its transcript {}, {}", transcript_path(),
                             matches_ > 1 ? "and several others contain the prompt" : "nor in another of the project"));
    turn_.reset();
    last_turn_ended_at_ = loop().now().wall;
    if (!follows()) screen_turn_ended_at_ = last_turn_ended_at_;
  }

  std::string chats_root_, id_;
  std::optional<WallMs> turn_;  // start of the current turn: lines written since then belong to it
  WallMs started_at_ = 0;
  GeminiPrompts prompts_;    // of that turn, from the last poll
  std::size_t matches_ = 0;  // transcripts with its prompt
  WallMs last_turn_ended_at_ = 0;
  WallMs screen_turn_ended_at_ = 0;  // end of the last turn that was read from the screen, without a transcript
  int restart_polls_ = 0;
  PollInterval poll_interval_{kFirstTurnPoll, kMaxTurnPoll};
  std::unique_ptr<net::Timer> recheck_timer_, end_timer_, restart_timer_;
};

}  // namespace

std::unique_ptr<Adapter> make_gemini(net::AsioLoop& loop) { return std::make_unique<Gemini>(loop); }

}  // namespace relay::adapters
