#include "processes.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "config/paths.h"
#include "crash/journal.h"

namespace relay::accuracy {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxRestartDelayMs = 300;
constexpr std::uint64_t kLongDelayOneIn = 8;  // of the daemon: agents get all that their hosts have, unreported
constexpr std::uint64_t kLongRestartDelayMs = 3'000;
constexpr int kWorkMs = 20;  // of an agent for each prompt
constexpr int kSubmitGapMs = 15;

// Replies contain no relay commands. Some turns are too short for a host to observe.
constexpr std::string_view kScript =
    R"({"rules": [{"contains": "7 end", "reply": "Done.", "work_ms": 0}], "default": {"reply": "Done."}})";

Result<void> write_file(const std::string& path, std::string_view text) {
  std::ofstream file{path, std::ios::binary};
  file << text;
  return file.flush() ? Result<void>{} : fail("cannot write " + path);
}

}  // namespace

Processes::~Processes() {
  for (auto& host : hosts_) {
    const auto agent = agent_of(host.process.pid());
    host.process.kill_and_reap();
    if (agent > 1) ::kill(agent, SIGKILL);
  }
  daemon_.process.kill_and_reap();
  if (options_.keep || directory_.empty()) return;
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string Processes::name_of(std::size_t agent) { return relay::format("Agent{}", agent); }
std::string Processes::log_of(std::size_t agent) const {
  return relay::format("{}/{}.log", directory_, name_of(agent));
}

Result<void> Processes::open(SteadyTime now) {
  RELAY_TRY(create_files());
  hosts_.resize(options_.agents);
  daemon_.restart_at = now;
  for (auto& host : hosts_) host.restart_at = now;
  return restart_due(now);
}

Result<void> Processes::create_files() {
  std::string pattern = (fs::canonical(fs::temp_directory_path()) / "relay-accuracy-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return fail_errno("cannot create a directory for the test");
  directory_ = pattern;
  project_ = directory_ + "/project";
  host_records_ = relay::format("{}/home/projects/{}/hosts", directory_, config::project_id(project_));
  for (const auto* folder : {"/project", "/project/.git", "/home", "/home/profiles"})
    if (::mkdir((directory_ + folder).c_str(), 0700) != 0)
      return fail_errno(relay::format("cannot create {}{}", directory_, folder));
  const auto profile = RELAY_TRY(crash::read_file(options_.profile));
  RELAY_TRY(write_file(directory_ + "/home/profiles/scripted.toml",
                       relay::format("{}\n[typing]\nsubmit_gap_ms = {}\n", profile, kSubmitGapMs)));
  return write_file(directory_ + "/script.json", kScript);
}

Result<crash::Process> Processes::start(std::vector<std::string> arguments, const std::string& output) const {
  arguments.insert(arguments.begin(), options_.program);
  return crash::Process::start({.argv = std::move(arguments),
                                .environment = {{"HOME", directory_},
                                                {"PATH", "/usr/bin:/bin"},
                                                {"TERM", "xterm-256color"},
                                                {"AGENT_RELAY_HOME", directory_ + "/home"},
                                                {"AGENT_RELAY_DURABILITY", options_.durability}},
                                .directory = project_,
                                .output = directory_ + "/" + output});
}

Result<void> Processes::start_daemon() {
  daemon_.process = RELAY_TRY(start({"up", "--foreground", "--no-http", "--socket", socket()}, "daemon.out"));
  daemon_.running = true;
  return {};
}

Result<void> Processes::start_host(std::size_t agent) {
  auto& host = hosts_[agent];
  host.process = RELAY_TRY(
      start({"run", "--detached", "--name", name_of(agent), "--profile", "scripted", "--", options_.agent, "--status",
             "--work-ms", std::to_string(kWorkMs), "--script", directory_ + "/script.json", "--log", log_of(agent)},
            name_of(agent) + ".out"));
  host.running = true;
  host.may_exit = false;
  return {};
}

Result<void> Processes::restart_due(SteadyTime now) {
  if (daemon_.running && daemon_.process.exited())
    return fail("the daemon exited by itself with the output: " + output_tail("daemon.out"));
  if (!daemon_.running && now >= daemon_.restart_at) RELAY_TRY(start_daemon());
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    auto& host = hosts_[i];
    if (host.running && host.process.exited()) {
      if (!host.may_exit)
        return fail(relay::format("the host of {} exited by itself with the output: {}", name_of(i),
                                  output_tail(name_of(i) + ".out")));
      stop(host, now);
    }
    if (!host.running && now >= host.restart_at) RELAY_TRY(start_host(i));
  }
  return {};
}

void Processes::stop(ManagedProcess& stopped, SteadyTime now) {
  stopped.process.kill_and_reap();
  stopped.running = false;
  stopped.restart_at = now + Millis{random_.below(kMaxRestartDelayMs)};
}

bool Processes::kill_daemon(SteadyTime now) {
  if (!daemon_.running) return false;
  stop(daemon_, now);
  if (random_.below(kLongDelayOneIn) == 0) daemon_.restart_at = now + Millis{kLongRestartDelayMs};
  return true;
}

bool Processes::kill_host(std::size_t agent, SteadyTime now) {
  if (!hosts_[agent].running) return false;
  stop(hosts_[agent], now);
  return true;
}

bool Processes::kill_agent(std::size_t agent) {
  auto& host = hosts_[agent];
  if (!host.running || host.may_exit) return false;
  const auto pid = agent_of(host.process.pid());
  if (pid <= 1) return false;
  host.may_exit = true;
  return ::kill(pid, SIGKILL) == 0;
}

/// The pid in the host's record, 0 while there is none.
pid_t Processes::agent_of(pid_t host) const {
  std::error_code none;
  if (host <= 0) return 0;
  for (const auto& entry : fs::directory_iterator{host_records_, none}) {
    if (entry.path().extension() != ".json") continue;
    const auto record = parse_json_object(crash::read_file(entry.path().string()).value_or(""));
    if (record && integer_member(*record, "hostPid") == host)
      return static_cast<pid_t>(integer_member(*record, "pid").value_or(0));
  }
  return 0;
}

std::string Processes::output_tail(const std::string& file) const {
  constexpr std::size_t kTail = 2'000;
  const auto text = crash::read_file(directory_ + "/" + file).value_or("");
  return text.size() > kTail ? text.substr(text.size() - kTail) : text;
}

}  // namespace relay::accuracy
