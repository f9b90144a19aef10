/// The fixture for tests of agents in the background.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {

namespace fs = std::filesystem;

struct Spawned : testing::Test {
  Sandbox box;
  Spawned() {
    box.ok({"up"});
    fs::create_directories(box.home() + "/profiles");
    fs::copy_file(SCRIPTED_PROFILE, box.home() + "/profiles/scripted.toml");
  }
  ~Spawned() override {  // kills hosts that a failed test left behind
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{box.workspace_directory() + "/hosts", none})
      if (entry.path().extension() == ".json")
        if (const auto pid = integer_member(read_json(entry.path().string()), "hostPid").value_or(0); pid > 1)
          ::kill(static_cast<pid_t>(pid), SIGKILL);
  }

  /// The JSON object in the file; empty when there is none.
  static json::object read_json(const std::string& path) {
    return parse_json_object(file_contents(path)).value_or(json::object{});
  }
  /// Lets agents spawn programs with a profile, and adds one for `cat`. Stops the daemon; `up` starts it with this setting.
  void allow_agent_spawns() {
    box.kill_daemon();
    box.write(box.home() + "/config.toml", "[spawn]\nby_agents = \"profiles\"\n");
    box.write(box.home() + "/profiles/cat.toml", "name = \"cat\"\ntitle = \"cat\"\ncommands = [\"cat\"]\n");
  }
  std::string program_of(const std::string& name) const {
    return format("{} --status --work-ms 50 --log {}", SCRIPTED_AGENT, log_of(name));
  }
  std::string log_of(const std::string& name) const { return box.project() + "/" + name + ".log"; }
  json::object spawn(const std::string& name, const std::string& task) {
    return box.ok_json({"spawn", name, program_of(name), task, "--from", "ada"});
  }
  /// Waits until the agent has submitted a text that contains the words.
  bool receives(const std::string& name, const std::string& words) {
    return eventually([&] {
      return std::ranges::any_of(parse_json_lines(file_contents(log_of(name))), [&](const json::object& event) {
        return string_member(event, "event") == "submit" && string_member(event, "text").value_or("").contains(words);
      });
    });
  }
  /// The path of the record of its host; empty when there is none.
  std::string record_of(const std::string& name) const {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{box.workspace_directory() + "/hosts", none})
      if (entry.path().extension() == ".json" && string_member(read_json(entry.path().string()), "name") == name)
        return entry.path().string();
    return {};
  }
  /// The process of its host; 0 when there is none.
  pid_t host_pid(const std::string& name) const {
    const auto record = record_of(name);
    return record.empty() ? 0 : static_cast<pid_t>(integer_member(read_json(record), "hostPid").value_or(0));
  }
  json::object last_event(const std::string& type, const std::string& agent) {
    return parse_json_object(box.ok({"events", "--types", type, "--agent", agent, "--json", "--limit", "1"}))
        .value_or(json::object{});
  }
  /// Waits for the end of its last session; returns how it ended: `released by human: enough`.
  std::string end_reason(const std::string& name) {
    json::object event;
    (void)eventually([&] { return !(event = last_event("session.ended", name)).empty(); });
    const auto by = string_member(event, "releasedBy"), detail = string_member(event, "detail");
    return string_member(event, "reason").value_or("no end") + (by ? " by " + *by : "") +
           (detail ? ": " + *detail : "");
  }
  bool is_connected(const std::string& name) { return box.is_connected(name); }
};

}  // namespace relay::cli_tests
