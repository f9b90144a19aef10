/// `agent-relay workspaces`
#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/render/times.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/workspace.h"
#include "daemon/private_file.h"
#include "text/iso_time.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

struct WorkspaceRow {
  std::string root, id;
  bool open = false;
  std::int64_t connected = 0;
  WallMs last_used = 0;
};

/// The time of the last write in the directory.
WallMs last_change_in(const fs::path& directory) {
  using std::chrono::file_clock;
  WallMs newest = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{directory, none}) {
    if (!entry.is_regular_file(none)) continue;
    const auto changed = entry.last_write_time(none);
    if (none) continue;
    const auto when = file_clock::to_sys(changed).time_since_epoch();
    newest = std::max(newest, std::chrono::duration_cast<Millis>(when).count());
  }
  return newest;
}

/// Every project that has a directory in the relay home, open or not.
std::vector<WorkspaceRow> saved_workspaces(const config::Home& home) {
  std::vector<WorkspaceRow> workspaces;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{home.projects, none}) {
    bool exists = false;
    const auto marker = daemon::read_small_file((entry.path() / ".project").string(), exists);
    const auto parsed = parse_json_object(marker.value_or(""));
    const auto root = parsed ? string_member(*parsed, "projectRoot").value_or("") : "";
    const auto id = entry.path().filename().string();
    if (!root.empty() && config::project_id(root) == id)
      workspaces.push_back({.root = root, .id = id, .last_used = last_change_in(entry.path())});
  }
  return workspaces;
}

std::vector<WorkspaceInfo> open_now(const Context& context) {
  auto daemon = connect_daemon(context);
  if (!daemon) return {};
  return list_workspaces(*daemon).value_or(std::vector<WorkspaceInfo>{});
}

std::string state_of(const WorkspaceRow& workspace) {
  std::error_code none;
  if (workspace.open) return "open";
  return fs::is_directory(workspace.root, none) ? "closed" : "closed, directory missing";
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto workspaces = saved_workspaces(context.home);
  for (const auto& open : open_now(context)) {
    auto found = std::ranges::find(workspaces, open.id, &WorkspaceRow::id);
    if (found == workspaces.end()) found = workspaces.insert(workspaces.end(), {.root = open.root, .id = open.id});
    found->open = true;
    found->connected = open.connected;
  }
  std::ranges::sort(workspaces, [](const WorkspaceRow& one, const WorkspaceRow& other) {
    return std::tuple{!one.open, -one.last_used, one.root} < std::tuple{!other.open, -other.last_used, other.root};
  });
  if (invocation.has("--json")) {
    json::array rows;
    for (const auto& each : workspaces) {
      json::object row = {
          {"root", each.root}, {"projectId", each.id}, {"open", each.open}, {"connected", each.connected}};
      if (each.last_used > 0) row["lastUsed"] = text::format_iso_time(each.last_used);
      rows.emplace_back(std::move(row));
    }
    print(json::serialize(json::object{{"workspaces", std::move(rows)}}) + "\n");
    return ExitCode::Ok;
  }
  Table columns{{"ROOT", "STATE", "CONNECTED", "LAST USED", "ID"}};
  for (const auto& each : workspaces)
    columns.add({sanitize(each.root, Lines::Join), state_of(each),
                 each.open ? relay::format("{}", each.connected) : "-",
                 each.last_used > 0 ? short_clock(each.last_used, context.now()) : "-", each.id});
  if (workspaces.empty())
    print_notice("no project has a workspace yet; open this one's with: agent-relay up");
  else
    print(columns.text(context.paint, context.width()));
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kWorkspaces = {
    .name = "workspaces",
    .group = Group::Inspect,
    .usage = "workspaces",
    .summary = "list all workspaces, open and closed",
    .hint = "[--json]",
    .options = kOptions,
    .listed = false,
    .example = "agent-relay workspaces",
    .details =
        "Open workspaces come first, with the number of connected agents. The messages of a closed one stay stored;\n"
        "the next command in its project opens it. Does not start the daemon.",
    .run = run,
};

}  // namespace relay::cli
