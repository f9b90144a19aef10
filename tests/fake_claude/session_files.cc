#include "fake_claude/session_files.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/format.h"

namespace relay::fake_claude {
namespace {

constexpr const char* kVersion = "2.1.325";

json::string_view text_of(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

SessionFiles::SessionFiles(std::string config_directory) : config_{std::move(config_directory)} {
  session_ = format("{:08x}-0000-4000-8000-{:012x}", ::getpid(), SystemClock{}.now().wall);
  const auto folder = config_ + "/projects/-project";
  std::filesystem::create_directories(folder);
  std::filesystem::create_directories(config_ + "/sessions");
  transcript_ = format("{}/{}.jsonl", folder, session_);
}

void SessionFiles::write_session_file(const std::string& socket) const {
  const json::object all{
      {"pid", ::getpid()},     {"sessionId", session_}, {"version", kVersion},           {"peerProtocol", 1},
      {"kind", "interactive"}, {"entrypoint", "cli"},   {"messagingSocketPath", socket}, {"status", "idle"}};
  const auto path = format("{}/sessions/{}.json", config_, ::getpid());
  std::ofstream{path + ".new"} << json::serialize(all);
  std::filesystem::rename(path + ".new", path);
}

void SessionFiles::add_prompt(std::string_view content, json::object origin) {
  add_row({{"type", "user"},
           {"message", {{"role", "user"}, {"content", text_of(content)}}},
           {"origin", std::move(origin)}});
}

void SessionFiles::add_peer_message(std::string_view text) {
  add_prompt(format("Another Claude session sent a message:\n{}\n\n(what the model is told about peers)", text),
             {{"kind", "peer"}, {"from", "unknown"}});
}

void SessionFiles::add_hook_context(std::string_view event, std::string_view text) {
  add_row({{"type", "attachment"},
           {"attachment",
            {{"type", "hook_additional_context"},
             {"content", json::array{text_of(text)}},
             {"hookName", text_of(event)},
             {"hookEvent", text_of(event)}}}});
}

void SessionFiles::add_text(std::string_view text) {
  add_row({{"type", "assistant"},
           {"message",
            {{"id", format("msg_{:012x}", rows_)},
             {"type", "message"},
             {"role", "assistant"},
             {"model", "claude-opus-5-5"},
             {"content", json::array{{{"type", "text"}, {"text", text_of(text)}}}},
             {"stop_reason", "end_turn"},
             {"usage",
              {{"input_tokens", 100},
               {"cache_creation_input_tokens", 0},
               {"cache_read_input_tokens", 0},
               {"output_tokens", 10}}}}}});
}

std::string SessionFiles::add_tool_call(std::string_view command) {
  auto id = format("toolu_{:012x}", rows_);
  add_row(
      {{"type", "assistant"},
       {"message",
        {{"id", format("msg_{:012x}", rows_)},
         {"type", "message"},
         {"role", "assistant"},
         {"model", "claude-opus-5-5"},
         {"content",
          json::array{
              {{"type", "tool_use"}, {"id", id}, {"name", "Bash"}, {"input", {{"command", text_of(command)}}}}}}}}});
  return id;
}

void SessionFiles::add_tool_result(std::string_view id, std::string_view output) {
  add_row({{"type", "user"},
           {"message",
            {{"role", "user"},
             {"content", json::array{{{"type", "tool_result"},
                                      {"tool_use_id", text_of(id)},
                                      {"content", text_of(output)},
                                      {"is_error", false}}}}}},
           {"toolUseResult", {{"stdout", text_of(output)}, {"stderr", ""}, {"interrupted", false}}}});
}

void SessionFiles::add_tool_denial(std::string_view id) {
  add_row({{"type", "user"},
           {"message",
            {{"role", "user"},
             {"content", json::array{{{"type", "tool_result"},
                                      {"tool_use_id", text_of(id)},
                                      {"content", "The user doesn't want to proceed with this tool use."},
                                      {"is_error", true}}}}}},
           {"toolUseResult", "User rejected tool use"}});
}

void SessionFiles::add_turn_end() { add_row({{"type", "system"}, {"subtype", "turn_duration"}, {"durationMs", 1}}); }

void SessionFiles::add_row(json::object fields) {
  fields["isSidechain"] = false;
  fields["uuid"] = next_id();
  fields["sessionId"] = session_;
  fields["version"] = kVersion;
  std::ofstream{transcript_, std::ios::app} << json::serialize(fields) + "\n";
}

std::string SessionFiles::next_id() { return format("{:08x}-1111-4222-8333-{:012x}", ::getpid(), ++rows_); }

}  // namespace relay::fake_claude
