#include "cli/agents.h"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/format.h"

namespace relay::cli_tests {

namespace {

void kill_tmux_server(std::string socket) {
  std::string words[] = {"tmux", "-S", std::move(socket), "kill-server"};
  char* const argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  pid_t pid = -1;
  if (::posix_spawnp(&pid, "tmux", nullptr, nullptr, argv, environ) == 0) ::waitpid(pid, nullptr, 0);
}

}  // namespace

Agents::Agents() {
  std::filesystem::create_directory(tmux_directory());
  box.set("TMUX_TMPDIR", tmux_directory());
  box.set("USER", "owner");  // `tester` is then a peer, not the user
  box.ok({"up", "--no-http"});
  submit_gap(Millis{300});
  script("{}");
}

Agents::~Agents() {
  namespace fs = std::filesystem;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{box.workspace_directory() + "/hosts", none}) {
    if (entry.path().extension() != ".json") continue;
    const auto host = parse_json_object(file_contents(entry.path()));
    const auto pid = host ? integer_member(*host, "hostPid").value_or(0) : 0;
    if (pid > 1) ::kill(static_cast<pid_t>(pid), SIGKILL);
  }
  for (const auto& entry : fs::directory_iterator{tmux_directory(), none})
    kill_tmux_server(entry.path().string() + "/default");  // fails harmlessly when the server is gone
}

void Agents::script(const std::string& json) const { box.write(box.project() + "/script.json", json); }

void Agents::submit_gap(Millis gap) const {
  std::ostringstream profile;
  profile << std::ifstream{SCRIPTED_PROFILE}.rdbuf() << format("[typing]\nsubmit_gap_ms = {}\n", gap.count());
  box.write(box.home() + "/profiles/scripted.toml", profile.str());
}

Terminal& Agents::start(const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> command{SCRIPTED_AGENT, "--work-ms", "50", "--script", box.project() + "/script.json",
                                   "--log",        log_of(name)};
  command.insert(command.end(), more.begin(), more.end());
  return start_program(name, command, "Scripted agent");
}

Terminal& Agents::start_program(const std::string& name, const std::vector<std::string>& command,
                                const std::string& shows) {
  std::vector<std::string> words{"-n", name};
  words.insert(words.end(), command.begin(), command.end());
  auto& terminal = *(terminals_[name] = std::make_unique<Terminal>(box, words));
  EXPECT_TRUE(is_connected(name));
  EXPECT_TRUE(terminal.shows(shows)) << terminal.screen();
  return terminal;
}

Terminal& Agents::start_with_draft(const std::string& name, const std::string& draft,
                                   const std::vector<std::string>& more) {
  auto& terminal = start(name, more);
  terminal.type(draft);
  EXPECT_TRUE(terminal.shows(draft)) << terminal.screen();
  return terminal;
}

std::string Agents::send_behind_draft(const std::string& name, const std::string& body) {
  const auto id = send(name, body);
  EXPECT_TRUE(is_pending_because(id, "the composer holds a draft")) << trace_of(id).history;
  return id;
}

Terminal& Agents::start_fake_claude(const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> command{FAKE_CLAUDE, "--script", box.project() + "/script.json", "--log", log_of(name)};
  command.insert(command.end(), more.begin(), more.end());
  return start_program(name, command, "Fake Claude Code");
}

Terminal& Agents::start_hooked_claude(const std::string& name, const std::vector<std::string>& more) {
  auto& terminal = start_fake_claude(name, more);
  EXPECT_TRUE(until([&] { return interface_for(name, "output") == "transcript"; }));
  return terminal;
}

std::string Agents::interface_for(const std::string& name, const std::string& task) {
  const auto explained = box.ok_json({"explain", name});
  const auto* interfaces = object_member(explained, "interfaces");
  return interfaces == nullptr ? "" : string_member(*interfaces, task).value_or("");
}

bool Agents::until(const std::function<bool()>& holds) {
  return eventually([&] {
    for (const auto& [name, terminal] : terminals_) terminal->read_all();
    return holds();
  });
}

void Agents::read_terminals_for(Millis time) {
  const auto end = std::chrono::steady_clock::now() + time;
  EXPECT_TRUE(until([&] { return std::chrono::steady_clock::now() >= end; }));
}

std::string Agents::send(const std::string& to, const std::string& body, const std::vector<std::string>& options) {
  std::vector<std::string> words{"send", to, "-", "--from", "tester", "--json"};
  words.insert(words.end(), options.begin(), options.end());
  const auto sent = parse_json_object(box.ok(words, body));
  EXPECT_TRUE(sent.has_value());
  return sent ? string_member(*sent, "id").value_or("") : "";
}

TraceResult Agents::trace_of(const std::string& id) {
  const auto trace = box.ok_json({"trace", id});
  const auto& delivery = trace.at("deliveries").as_array().front().as_object();
  TraceResult all{.state = string_member(delivery, "state").value_or(""),
                  .proof = string_member(delivery, "proof").value_or(""),
                  .history = {}};
  for (const auto& step : delivery.at("history").as_array()) all.history += json::serialize(step) + "\n";
  return all;
}

bool Agents::is_connected(const std::string& name) {
  return until([&] { return box.ok({"agents", "--names"}).find(name + "\n") != std::string::npos; });
}

std::vector<json::object> Agents::events(const std::string& name) const {
  return parse_json_lines(file_contents(log_of(name)));
}

std::size_t Agents::count(const std::string& name, const std::string& event) const { return texts(name, event).size(); }

std::vector<std::string> Agents::texts(const std::string& name, const std::string& event) const {
  std::vector<std::string> texts;
  for (const auto& each : events(name))
    if (string_member(each, "event") == event) texts.push_back(string_member(each, "text").value_or(""));
  return texts;
}

std::size_t Agents::submit_count(const std::string& name, const std::string& words) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(submitted(name), [&](const auto& each) { return each.find(words) != std::string::npos; }));
}

std::size_t Agents::typed(const std::string& name, char byte) const {
  const auto digits = format("{:02x}", static_cast<unsigned char>(byte));
  std::size_t count = 0;
  for (const auto& event : events(name)) {
    const auto hex = string_member(event, "hex").value_or("");
    for (std::size_t at = 0; at < hex.size(); at += 2) count += hex.compare(at, 2, digits) == 0 ? 1U : 0U;
  }
  return count;
}

pid_t Agents::agent_pid(const std::string& name) const {
  pid_t pid = 0;
  for (const auto& event : events(name))
    if (string_member(event, "event") == "start") pid = static_cast<pid_t>(integer_member(event, "pid").value_or(0));
  return pid;
}

}  // namespace relay::cli_tests
