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
  const auto findings = run_checks(context);
  bool healthy = true;
  json::array array;
  Table columns{{}};
  for (const auto& finding : findings) {
    const bool ok = finding.verdict == CheckStatus::Ok;
    healthy = healthy && finding.verdict != CheckStatus::Problem;
    const auto word = ok ? "ok" : finding.verdict == CheckStatus::Note ? "note" : "problem";
    json::object entry = {{"check", finding.what}, {"verdict", word}, {"says", finding.message}};
    if (!finding.fix.empty()) entry["advice"] = finding.fix;
    array.push_back(std::move(entry));
    const auto colour = ok ? Colour::Green : finding.verdict == CheckStatus::Note ? Colour::Yellow : Colour::Red;
    auto says = sanitize(finding.message, Lines::Join);
    if (!finding.fix.empty()) says += "; " + sanitize(finding.fix, Lines::Join);
    auto verdict = context.paint(colour, relay::format("{:<7}", word));
    if (context.is_narrow())
      columns.add({relay::format("{}  {}", verdict, finding.what), says});
    else
      columns.add({std::move(verdict), std::string{finding.what}, says});
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
    .group = Group::Knowing,
    .usage = "doctor",
    .summary = "what is wrong here, and what to do",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay doctor",
    .details =
        "Looks at home, configuration, disk, clock, sockets, store, daemon, HTTP, limits of descriptors and inotify,\n"
        "services, agents and their versions, profiles, hooks and MCP, and writes nothing. Each agent that is found "
        "is\n"
        "asked for its version. Ends with 1 when there is a problem.",
    .run = run,
};

}  // namespace relay::cli
