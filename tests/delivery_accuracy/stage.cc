#include "stage.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "config/paths.h"
#include "crash/journal.h"

namespace relay::verdicts {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxAwayMs = 300;        // how long the killed one stays away
constexpr std::uint64_t kOneInLongAbsences = 8;  // the daemon: agents are given all that their hosts have, unheard
constexpr std::uint64_t kLongAwayMs = 3'000;
constexpr int kWorkMs = 20;  // of an agent, on each prompt
constexpr int kSubmitGapMs = 15;

// Answers at once and says nothing that a relay would carry out. Some turns are too short for a host to see them.
constexpr std::string_view kScript =
    R"({"rules": [{"contains": "7 ends", "reply": "Done.", "work_ms": 0}], "default": {"reply": "Done."}})";

Result<void> write_file(const std::string& path, std::string_view text) {
  std::ofstream file{path, std::ios::binary};
  file << text;
  return file.flush() ? Result<void>{} : fail("cannot write " + path);
}

}  // namespace

Stage::~Stage() {
  for (auto& host : hosts_) {
    const auto agent = agent_of(host.process.pid());
    host.process.kill_and_reap();
    if (agent > 1) ::kill(agent, SIGKILL);
  }
  daemon_.process.kill_and_reap();
  if (props_.keep || place_.empty()) return;
  std::error_code ignored;
  fs::remove_all(place_, ignored);
}

std::string Stage::name_of(std::size_t agent) { return relay::format("Agent{}", agent); }
std::string Stage::log_of(std::size_t agent) const { return relay::format("{}/{}.log", place_, name_of(agent)); }

Result<void> Stage::open(SteadyTime now) {
  RELAY_TRY(furnish());
  hosts_.resize(props_.agents);
  daemon_.back_at = now;
  for (auto& host : hosts_) host.back_at = now;
  return tend(now);
}

Result<void> Stage::furnish() {
  std::string pattern = (fs::canonical(fs::temp_directory_path()) / "relay-verdicts-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return fail_errno("cannot make a directory for the test");
  place_ = pattern;
  project_ = place_ + "/project";
  records_ = relay::format("{}/home/projects/{}/hosts", place_, config::project_id(project_));
  for (const auto* folder : {"/project", "/project/.git", "/home", "/home/profiles"})
    if (::mkdir((place_ + folder).c_str(), 0700) != 0)
      return fail_errno(relay::format("cannot make {}{}", place_, folder));
  const auto profile = RELAY_TRY(crash::read_file(props_.profile));
  RELAY_TRY(write_file(place_ + "/home/profiles/scripted.toml",
                       relay::format("{}\n[typing]\nsubmit_gap_ms = {}\n", profile, kSubmitGapMs)));
  return write_file(place_ + "/script.json", kScript);
}

Result<crash::Process> Stage::start(std::vector<std::string> words, const std::string& output) const {
  words.insert(words.begin(), props_.program);
  return crash::Process::start({.words = std::move(words),
                                .variables = {{"HOME", place_},
                                              {"PATH", "/usr/bin:/bin"},
                                              {"TERM", "xterm-256color"},
                                              {"AGENT_RELAY_HOME", place_ + "/home"},
                                              {"AGENT_RELAY_DURABILITY", props_.durability}},
                                .directory = project_,
                                .output = place_ + "/" + output});
}

Result<void> Stage::start_daemon() {
  daemon_.process = RELAY_TRY(start({"up", "--foreground", "--no-http", "--socket", socket()}, "daemon.out"));
  daemon_.here = true;
  return {};
}

Result<void> Stage::start_host(std::size_t agent) {
  auto& host = hosts_[agent];
  host.process = RELAY_TRY(
      start({"run", "--detached", "--name", name_of(agent), "--profile", "scripted", "--", props_.agent, "--status",
             "--work-ms", std::to_string(kWorkMs), "--script", place_ + "/script.json", "--log", log_of(agent)},
            name_of(agent) + ".out"));
  host.here = true;
  host.may_end = false;
  return {};
}

Result<void> Stage::tend(SteadyTime now) {
  if (daemon_.here && daemon_.process.ended())
    return fail("the daemon ended by itself and said: " + last_words("daemon.out"));
  if (!daemon_.here && now >= daemon_.back_at) RELAY_TRY(start_daemon());
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    auto& host = hosts_[i];
    if (host.here && host.process.ended()) {
      if (!host.may_end)
        return fail(
            relay::format("the host of {} ended by itself and said: {}", name_of(i), last_words(name_of(i) + ".out")));
      send_away(host, now);
    }
    if (!host.here && now >= host.back_at) RELAY_TRY(start_host(i));
  }
  return {};
}

void Stage::send_away(Actor& actor, SteadyTime now) {
  actor.process.kill_and_reap();
  actor.here = false;
  actor.back_at = now + Millis{random_.below(kMaxAwayMs)};
}

bool Stage::kill_daemon(SteadyTime now) {
  if (!daemon_.here) return false;
  send_away(daemon_, now);
  if (random_.below(kOneInLongAbsences) == 0) daemon_.back_at = now + Millis{kLongAwayMs};
  return true;
}

bool Stage::kill_host(std::size_t agent, SteadyTime now) {
  if (!hosts_[agent].here) return false;
  send_away(hosts_[agent], now);
  return true;
}

bool Stage::kill_agent(std::size_t agent) {
  auto& host = hosts_[agent];
  if (!host.here || host.may_end) return false;
  const auto pid = agent_of(host.process.pid());
  if (pid <= 1) return false;
  host.may_end = true;
  return ::kill(pid, SIGKILL) == 0;
}

bool Stage::everybody_is_here() const {
  return daemon_.here && std::ranges::all_of(hosts_, [](const Actor& host) { return host.here && !host.may_end; });
}

/// As the host's record tells it; 0 while there is none.
pid_t Stage::agent_of(pid_t host) const {
  std::error_code none;
  if (host <= 0) return 0;
  for (const auto& entry : fs::directory_iterator{records_, none}) {
    if (entry.path().extension() != ".json") continue;
    const auto record = parse_json_object(crash::read_file(entry.path().string()).value_or(""));
    if (record && integer_member(*record, "hostPid") == host)
      return static_cast<pid_t>(integer_member(*record, "pid").value_or(0));
  }
  return 0;
}

std::string Stage::last_words(const std::string& file) const {
  constexpr std::size_t kTail = 2'000;
  const auto text = crash::read_file(place_ + "/" + file).value_or("");
  return text.size() > kTail ? text.substr(text.size() - kTail) : text;
}

}  // namespace relay::verdicts
