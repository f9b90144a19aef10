#include "agent_logs.h"

#include <fstream>

#include "base/format.h"
#include "base/json.h"

namespace relay::accuracy {
namespace {

constexpr std::size_t kMaxExamples = 10;
constexpr std::string_view kSubmit = "\"submit\"";  // lines of other events are not parsed

}  // namespace

Result<void> AgentLogs::read(std::size_t agent, const std::string& path) {
  auto& log = logs_.at(agent);
  std::ifstream file{path, std::ios::binary};
  if (!file) return {};  // the agent has not started
  file.seekg(static_cast<std::streamoff>(log.read));
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  if (file.bad()) return fail(relay::format("cannot read {}", path));
  log.read += bytes.size();
  append(agent, bytes);
  return {};
}

void AgentLogs::append(std::size_t agent, std::string_view bytes) {
  auto& text = logs_.at(agent).partial_line;
  text += bytes;
  std::size_t at = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    const auto line = std::string_view{text}.substr(at, end - at);
    at = end + 1;
    if (!line.contains(kSubmit)) continue;
    const auto event = parse_json_object(line);
    if (event && string_member(*event, "event") == "submit")
      on_submit(agent, string_member(*event, "text").value_or(""));
  }
  text.erase(0, at);
}

void AgentLogs::on_submit(std::size_t agent, const std::string& text) {
  const auto bodies = find_bodies(text);
  const bool one = bodies.size() == 1 && bodies[0].complete && text.ends_with(body_of(bodies[0].number)) &&
                   plan_.message(bodies[0].number).agent == agent;
  if (!one) {
    ++torn_;
    add_example(relay::format("agent {} received: {}", agent, text));
  }
  for (const auto& [number, complete] : bodies) {
    if (!complete) continue;
    if (++times_received_[number] > 1) add_example(relay::format("agent {} received message {} again", agent, number));
    auto& latest = latest_[plan_.message(number)];
    if (number < latest) {
      ++out_of_order_;
      add_example(relay::format("agent {} received message {} after {}", agent, number, latest));
    }
    latest = std::max(latest, number);
  }
}

std::size_t AgentLogs::times_received(Number number) const {
  const auto found = times_received_.find(number);
  return found == times_received_.end() ? 0 : found->second;
}

void AgentLogs::add_example(std::string description) {
  if (examples_.size() < kMaxExamples) examples_.push_back(std::move(description));
}

}  // namespace relay::accuracy
