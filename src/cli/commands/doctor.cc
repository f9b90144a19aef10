/// `agent-relay doctor`
#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/doctor/checks.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"

namespace relay::cli {
namespace {

ExitCode run(const Invocation& invocation, Context& context) {
  const auto results = run_checks(context);
  bool healthy = true;
  json::array array;
  Table columns{{}};
  for (const auto& result : results) {
    const bool ok = result.status == CheckStatus::Ok;
    healthy = healthy && result.status != CheckStatus::Problem;
    const auto word = ok ? "ok" : result.status == CheckStatus::Note ? "note" : "problem";
    json::object entry = {{"check", result.check}, {"status", word}, {"message", result.message}};
    if (!result.fix.empty()) entry["fix"] = result.fix;
    array.push_back(std::move(entry));
    const auto color = ok ? Color::Green : result.status == CheckStatus::Note ? Color::Yellow : Color::Red;
    auto message = sanitize(result.message, Lines::Join);
    if (!result.fix.empty()) message += "; " + sanitize(result.fix, Lines::Join);
    auto status = context.paint(color, relay::format("{:<7}", word));
    if (context.is_narrow())
      columns.add({relay::format("{}  {}", status, result.check), message});
    else
      columns.add({std::move(status), std::string{result.check}, message});
  }
  if (invocation.has("--json"))
    print(json::serialize(json::object{{"healthy", healthy}, {"checks", std::move(array)}}) + "\n");
  else
    print(columns.text(context.paint, context.width()));
  return healthy ? ExitCode::Ok : ExitCode::Failed;
}

constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kDoctor = {
    .name = "doctor",
    .group = Group::Inspect,
    .usage = "doctor",
    .summary = "find problems and show how to fix them",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay doctor",
    .details =
        "Checks the relay home (~/.agent-relay), configuration, disk, clock, sockets, store, daemon, HTTP, limits of\n"
        "descriptors and inotify, services, agents and their versions, profiles, hooks and MCP, and changes nothing.\n"
        "Runs each installed agent to get its version. Exits with 1 when there is a problem.",
    .run = run,
};

}  // namespace relay::cli
