/// Gemini CLI: hooks and its chat file; it has no interface for delivery while it is idle, so texts are typed.
///
/// Its hooks are not always available (hooks/wiring.h), so its transcript is also found without them: we choose the
/// session's id, and the file's name ends with its first digits. Without hooks nothing reports that the user switched
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
// For the prompt of a turn, until it is in some record. A prompt is written when its turn begins. A command of the
// user's may run for hours and is in none; each look reads the project's prompts and the beginnings of its records.
constexpr Millis kFirstTurnLook{500};
constexpr Millis kMaxTurnLook{8'000};
// Output of a user's command is written when its turn is over. The screen is read when it was unchanged for 600 ms.
constexpr Millis kLateLine{300};
constexpr Millis kReturnInterval{1'000};  // for the record of a Gemini that starts itself anew
constexpr int kMaxReturnLooks = 60;

/// Options by which the user chooses the session, or requests no conversation.
constexpr std::string_view kTheirs[] = {"--session-id",
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

bool person_chooses(const std::vector<std::string>& argv) {
  for (const std::string_view word : argv)
    for (const auto theirs : kTheirs)
      if (word == theirs || (word.starts_with(theirs) && word.substr(theirs.size()).starts_with('='))) return true;
  return false;
}

class Gemini final : public HookAdapter {
 public:
  explicit Gemini(net::AsioLoop& loop) : HookAdapter{loop, hooks::AgentCli::Gemini, transcripts::gemini_reader} {}

  void prepare(pty::Command& command, const LaunchContext& where) override {
    HookAdapter::prepare(command, where);
    auto home = pty::variable(command.environment, "GEMINI_CLI_HOME");
    if (home.empty()) home = pty::variable(command.environment, "HOME");
    records_ = std::string{home} + "/.gemini/tmp";
    if (person_chooses(command.argv) || fs::path{command.argv.front()}.filename() != "gemini") return;
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
    can.prompts = {};  // its hooks report a permission and cannot give one
    return can;
  }
  void on_state(profiles::State state) override {
    HookAdapter::on_state(state);
    if (id_.empty() || has_ended()) return;
    if (!follows()) find_record();
    if (has_called()) return;  // its hooks name the transcript
    recheck_timer_ = nullptr;  // a dialog may stay open for long
    if (state == profiles::State::Working) {
      end_timer_ = nullptr;
      if (turn_)
        look_later();
      else
        begin_turn();
    } else if (turn_ && (state == profiles::State::Idle || state == profiles::State::Typing)) {
      if (look_for_turn()) return end_turn();
      end_timer_ = loop().after(kLateLine, [this] { end_turn(); });
    }
  }
  void on_agent_exit() override {
    if (turn_) look_for_turn();
    turn_.reset();
    return_timer_ = nullptr;
    stop_turn_timers();
    HookAdapter::on_agent_exit();
  }

 private:
  /// It accepts no instructions on its command line.
  [[nodiscard]] std::string session_context() const override { return where().instructions; }

  static std::string uuid(Random& random) {
    const auto digits = random.hex(16);
    const auto part = [&](std::size_t from, std::size_t count) { return digits.substr(from, count); };
    return format("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 4), part(13, 3), part(17, 3), part(20, 12));  // of version 4
  }

  /// The transcript of the session that we chose.
  void find_record() {
    if (!record().empty() && session() != id_) return;
    const auto path = find_gemini_chat_of(records_, id_);
    if (path.empty() || path == record()) return;
    if (record().empty())
      follow(path, id_, started_at_);
    else
      move(path, id_, heard_until_);
  }

  void on_record_removed() override {
    return_looks_ = 0;
    look_for_return();
  }
  void look_for_return() {
    return_timer_ = nullptr;
    find_record();
    if (has_lost_record() && ++return_looks_ < kMaxReturnLooks)
      return_timer_ = loop().after(kReturnInterval, [this] { look_for_return(); });
  }

  void stop_turn_timers() {
    recheck_timer_ = nullptr;
    end_timer_ = nullptr;
  }
  void begin_turn() {
    turn_ = std::max(loop().now().wall - kTurnSlack, rested_at_);
    look_pace_.begin();
    if (!look_for_turn()) look_later();
  }
  void look_later() {
    recheck_timer_ = loop().after(look_pace_.next(), [this] {
      recheck_timer_ = nullptr;
      if (!look_for_turn()) look_later();
    });
  }

  /// Is the turn in the followed transcript, or in one that is followed from now on?
  bool look_for_turn() {
    if (record().empty()) return true;  // the screen is heard, and nothing else was promised
    struct stat status{};
    const bool there = ::stat(record().c_str(), &status) == 0;
    if (there && status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000 >= *turn_) return true;
    const auto chats = fs::path{record()}.parent_path();
    prompts_ = read_gemini_prompts((chats.parent_path() / "logs.json").string(), id_, *turn_, started_at_);
    const auto chat = find_gemini_chat(chats.string(), prompts_);
    holders_ = chat.holders;
    if (chat.path.empty() || chat.path == record()) return false;
    move(chat.path, chat.session, std::max(*turn_, heard_until_));
    return true;
  }

  void end_turn() {
    stop_turn_timers();
    if (!look_for_turn() && (!prompts_.readable || holds_a_prompt(prompts_)))
      lose_record(holders_ > 1
                      ? format("its last turn is not in its record {}, and several others hold the prompt", record())
                      : format("its last turn is not in its record {}, nor in another one of the project", record()));
    turn_.reset();
    rested_at_ = loop().now().wall;
    if (!follows()) heard_until_ = rested_at_;  // by the screen
  }

  std::string records_, id_;
  std::optional<WallMs> turn_;  // what is written from then on belongs to the turn that goes on
  WallMs started_at_ = 0;
  GeminiPrompts prompts_;    // of that turn, as they were read last
  std::size_t holders_ = 0;  // records that hold its prompt
  WallMs rested_at_ = 0;     // the turn before it ended
  WallMs heard_until_ = 0;   // on the screen, while there was no record
  int return_looks_ = 0;
  LookPace look_pace_{kFirstTurnLook, kMaxTurnLook};
  std::unique_ptr<net::Timer> recheck_timer_, end_timer_, return_timer_;
};

}  // namespace

std::unique_ptr<Adapter> gemini(net::AsioLoop& loop) { return std::make_unique<Gemini>(loop); }

}  // namespace relay::adapters
