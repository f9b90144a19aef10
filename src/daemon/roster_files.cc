#include "daemon/roster_files.h"

#include "base/format.h"
#include "base/hash.h"
#include "base/log.h"
#include "daemon/private_file.h"
#include "text/iso_time.h"
#include "text/json_writer.h"

namespace relay::daemon {
namespace {

constexpr std::size_t kAgentIdDigits = 12;

void add_names(text::JsonWriter& json, const std::vector<broker::RosterEntry>& roster, protocol::EntityType kind) {
  for (const auto& entry : roster) {
    if (entry.connected && entry.agent.entity == kind) json.element(entry.agent.name.value());
  }
}

}  // namespace

std::string agents_json(const std::vector<broker::RosterEntry>& roster) {
  text::JsonWriter json;
  json.begin_array("agents");
  for (const auto& entry : roster) {
    const auto& agent = entry.agent;
    json.begin_element()
        .field("id", "agent-" + sha256_hex(agent.name.value()).substr(0, kAgentIdDigits))
        .field("name", agent.name.value())
        .optional("cli", agent.cli)
        .optional("program", agent.program)
        .optional("model", agent.model)
        .optional("task", agent.task)
        .optional("workingDirectory", agent.working_directory)
        .optional("team", agent.team)
        .field("firstSeen", text::format_iso_time(agent.first_seen))
        .field("lastSeen", text::format_iso_time(agent.last_seen))
        .field("messagesSent", entry.sent)
        .field("messagesReceived", entry.received)
        .end();
  }
  json.end();
  return json.take() + "\n";
}

std::string connected_agents_json(const std::vector<broker::RosterEntry>& roster, WallMs now) {
  text::JsonWriter json;
  json.begin_array("agents");
  add_names(json, roster, protocol::EntityType::Agent);
  json.end().begin_array("users");
  add_names(json, roster, protocol::EntityType::User);
  json.end().field("updatedAt", now);
  return json.take() + "\n";
}

void RosterFiles::write(const std::vector<broker::RosterEntry>& roster, WallMs now) {
  write_file("agents.json", agents_json(roster));
  write_file("connected-agents.json", connected_agents_json(roster, now));
}

void RosterFiles::write_file(const std::string& name, const std::string& text) {
  const auto written = replace_private_file(directory_ + "/" + name, text);
  if (!written && !failing_) log::warn("the list of agents is out of date", {{"reason", written.error().message()}});
  failing_ = !written;
}

}  // namespace relay::daemon
