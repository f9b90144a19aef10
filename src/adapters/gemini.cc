/// Gemini CLI: hooks and its chat file; it has no door for words while it is idle, so those are typed.
///
/// Its hooks are not always to be had (hooks/wiring.h), so its record is also found without them: we choose the session's
/// id, and the name of the file ends with the first digits of it.
#include <filesystem>

#include "adapters/agents.h"
#include "adapters/hooked_adapter.h"
#include "base/format.h"
#include "base/random.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamedDigits = 8;  // of the session's id in the file's name
constexpr int kMaxLookedAt = 10'000;     // files, when the record is looked for

/// Words with which the person chooses the session, or asks for no conversation at all.
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

class Gemini final : public HookedAdapter {
 public:
  Gemini() : HookedAdapter{hooks::Agent::Gemini, transcripts::gemini_reader} {}

  void prepare(pty::Command& command, const Surroundings& where) override {
    HookedAdapter::prepare(command, where);
    auto home = pty::variable(command.environment, "GEMINI_CLI_HOME");
    if (home.empty()) home = pty::variable(command.environment, "HOME");
    records_ = std::string{home} + "/.gemini/tmp";
    if (person_chooses(command.argv) || fs::path{command.argv.front()}.filename() != "gemini") return;
    SystemRandom random;
    id_ = uuid(random);
    command.argv.insert(command.argv.begin() + 1, {"--session-id", id_});
  }
  [[nodiscard]] Capabilities capabilities() const override {
    auto can = HookedAdapter::capabilities();
    can.answer = {};  // its hooks hear of a permission and cannot give one
    return can;
  }
  void on_state(profiles::State state) override {
    HookedAdapter::on_state(state);
    if (!follows() && !id_.empty()) find_record();
  }

 private:
  /// It takes no instructions on its command line.
  [[nodiscard]] std::string greeting() const override { return where().instructions; }

  static std::string uuid(Random& random) {
    const auto digits = random.hex(16);
    const auto part = [&](std::size_t from, std::size_t count) { return digits.substr(from, count); };
    return format("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 4), part(13, 3), part(17, 3), part(20, 12));  // of version 4
  }

  /// `tmp/<project>/chats/session-<time>-<first digits>.jsonl`
  void find_record() {
    const auto ending = format("-{}.jsonl", id_.substr(0, kNamedDigits));
    std::error_code none;
    int looked_at = 0;
    for (const auto& project : fs::directory_iterator{records_, none})
      for (const auto& file : fs::directory_iterator{project.path() / "chats", none})
        if (file.path().filename().string().ends_with(ending))
          return follow(file.path().string(), id_);
        else if (++looked_at > kMaxLookedAt)
          return;
  }

  std::string records_, id_;
};

}  // namespace

std::unique_ptr<Adapter> gemini() { return std::make_unique<Gemini>(); }

}  // namespace relay::adapters
