#include "cli/render/event_line.h"

#include "base/format.h"
#include "cli/render/text.h"
#include "cli/render/times.h"
#include "cli/wire/json_fields.h"

namespace relay::cli {
namespace {

std::string of(const json::object& event, std::string_view name) {
  return sanitize(string_member(event, name).value_or(""), Lines::Join);
}

std::string inner(const json::object& event, std::string_view object, std::string_view name) {
  const auto* found = object_member(event, object);
  return found == nullptr ? "" : of(*found, name);
}

constexpr std::size_t kMinSummary = 20;  // columns; with less room the summary gets a separate line
constexpr std::size_t kSummaryIndent = 4;

std::string prefixed(std::string_view mark, std::string text) {
  return text.empty() ? "" : relay::format("{}{}", mark, text);
}

std::string tokens(const json::object& event) {
  const auto count = [&](std::string_view name) { return integer_member(event, name).value_or(0); };
  return relay::format("{}: {} in, {} out, {} from the cache", of(event, "model"), count("inputTokens"),
                       count("outputTokens"), count("cacheReadTokens"));
}

std::string length(const json::object& event) {
  return fine_duration(Millis{integer_member(event, "duration").value_or(0)});
}

std::string command(const json::object& event) {
  const auto exit = integer_member(event, "exitCode");
  return relay::format("{} ({}{})", of(event, "command"), exit ? relay::format("exit {}, ", *exit) : "", length(event));
}

std::string summary(const json::object& event) {
  const auto* done = object_member(event, "summary");
  const auto how =
      of(event, "reason") + prefixed(" by ", of(event, "releasedBy")) + prefixed(", ", of(event, "detail"));
  if (done == nullptr) return how;
  return relay::format(
      "{} after {}: {} items, {} commands, {} files", how,
      short_duration(Millis{integer_member(*done, "duration").value_or(0)}),
      integer_member(*done, "itemCount").value_or(0), integer_member(*done, "commandsRun").value_or(0),
      array_member(*done, "filesModified") == nullptr ? 0 : array_member(*done, "filesModified")->size());
}

std::string delivery(const json::object& event) {
  return relay::format("{}{}{}", inner(event, "message", "id"), prefixed(", ", of(event, "proof")),
                       prefixed(": ", of(event, "reason")));
}

using Object = json::object;
constexpr std::pair<std::string_view, std::string (*)(const Object&)> kSummaries[] = {
    {"session.started",
     [](const Object& event) {
       return inner(event, "agent", "cli") + prefixed(" in ", inner(event, "config", "workingDirectory"));
     }},
    {"session.ended", summary},
    {"item.started",
     [](const Object& event) { return of(event, "itemType") + prefixed(" ", inner(event, "metadata", "tool")); }},
    {"item.delta", [](const Object& event) { return inner(event, "delta", "content"); }},
    {"item.completed", [](const Object& event) { return "after " + length(event); }},
    {"permission.requested",
     [](const Object& event) {
       return relay::format("{} ({}){}", of(event, "tool"), of(event, "riskLevel"),
                            prefixed(": ", of(event, event.contains("command") ? "command" : "description")));
     }},
    {"permission.resolved",
     [](const Object& event) {
       return of(event, "resolution") + " by " + of(event, "resolvedBy") + prefixed(": ", of(event, "reason"));
     }},
    {"question.requested", [](const Object& event) { return of(event, "question"); }},
    {"question.resolved", [](const Object& event) { return of(event, "answer") + " by " + of(event, "resolvedBy"); }},
    {"message.exchanged",
     [](const Object& event) {
       return relay::format("{} {} {}: {}", of(event, "from"), marks().arrow, of(event, "to"), of(event, "body"));
     }},
    {"agent.spawned",
     [](const Object& event) {
       return relay::format("{} for {}{}", of(event, "cli"), of(event, "spawnedBy"), prefixed(": ", of(event, "task")));
     }},
    {"agent.released",
     [](const Object& event) { return "by " + of(event, "releasedBy") + prefixed(": ", of(event, "reason")); }},
    {"consensus.proposed", [](const Object& event) { return of(event, "title"); }},
    {"consensus.resolved", [](const Object& event) { return of(event, "outcome"); }},
    {"tokens.used", tokens},
    {"file.operation", [](const Object& event) { return of(event, "operation") + " " + of(event, "filePath"); }},
    {"command.executed", command},
    {"agent.status",
     [](const Object& event) {
       return std::string{state_word(of(event, "state"))} + prefixed(": ", of(event, "reason"));
     }},
    {"agent.unparsed", [](const Object& event) { return of(event, "problem"); }},
    {"loop.tripped",
     [](const Object& event) {
       return relay::format("{} {} {}: {}", of(event, "from"), marks().arrow, of(event, "to"), of(event, "reason"));
     }},
    {"relay.damaged", [](const Object& event) { return of(event, "reason"); }},
};

}  // namespace

std::string event_summary(const json::object& event) {
  const auto type = string_member(event, "type").value_or("");
  if (type.starts_with("delivery.")) return delivery(event);
  for (const auto& [name, summarize] : kSummaries)
    if (type == name) return summarize(event);
  return "";
}

std::string event_line(const json::object& event, const Context& context) {
  const auto& paint = context.paint;
  const auto time = short_time(time_in(event, "_ts"), context.now());
  const auto number = relay::format("#{}", integer_member(event, "_seq").value_or(0));
  const auto name = of(event, "_agentName"), type = of(event, "type");
  const auto head = relay::format("{}  {:>6}  {:<12}  {:<20}  ", time, number, name, type);
  const auto what = event_summary(event);
  if (context.to_terminal && display_width(head) + kMinSummary > context.columns)
    return fold(relay::format("{}  {}  {}  {}\n", paint(Color::Dim, time), paint(Color::Dim, number), paint.name(name),
                              type),
                context.columns, kSummaryIndent) +
           (what.empty() ? ""
                         : std::string(kSummaryIndent, ' ') + truncate(what, context.columns - kSummaryIndent) + "\n");
  const auto room = context.columns - std::min(context.columns, display_width(head));
  return relay::format("{}  {}  {}  {}  {}\n", paint(Color::Dim, time),
                       paint(Color::Dim, relay::format("{:>6}", number)), paint.name(relay::format("{:<12}", name)),
                       relay::format("{:<20}", type), context.to_terminal ? truncate(what, room) : what);
}

}  // namespace relay::cli
