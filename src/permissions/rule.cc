#include "permissions/rule.h"

#include <algorithm>

#include "permissions/path_matching.h"
#include "permissions/tools.h"
#include "text/visible_text.h"

namespace relay::permissions {

Result<Rule> Rule::compile(RuleSpec text) {
  const bool approves = text.action == Action::Approve;
  const auto match = approves ? Matching::Certain : Matching::Likely;
  Rule rule;
  for (auto& name : text.tools) name = canonical_tool(name);
  const bool of_bash = std::ranges::find(text.tools, tool::kBash) != text.tools.end();
  if (approves && of_bash && text.commands.empty())
    return fail("a rule that approves bash must say which commands; command = '.*' means every simple one");
  if (approves && !text.commands.empty() && !text.paths.empty())
    return fail("a rule that approves commands cannot have a path: which files a command touches cannot be told");
  if (text.timeout && text.action != Action::Ask)
    return fail("only a rule that asks can have a timeout: the others do not wait");
  rule.tools_ = RELAY_TRY(Pattern::of_names(text.tools));
  rule.commands_ = RELAY_TRY(Pattern::of_commands(text.commands, match));
  rule.paths_ = RELAY_TRY(Pattern::of_files(text.paths, match));
  rule.agents_ = RELAY_TRY(Pattern::of_names(text.agents));
  rule.text_ = std::move(text);
  return rule;
}

bool Rule::covers(const ParsedRequest& seen) const {
  if (!is_about(seen.ask.agent)) return false;
  return text_.action == Action::Approve ? covers_strictly(seen) : covers_loosely(seen);
}

bool Rule::is_about(std::string_view agent) const { return !agents_.given() || agents_.matches(agent); }

bool Rule::covers_strictly(const ParsedRequest& seen) const {
  if (tools_.given() && !tools_.matches(seen.tool)) return false;
  const auto& path = seen.ask.file_path;
  if (path && (path->empty() || !text::is_visible_text(*path))) return false;
  if (seen.ask.command || seen.tool == tool::kBash) return seen.simple && commands_.matches(seen.simple->text);
  if (commands_.given()) return false;
  if (seen.tool == tool::kRead && !path) return false;
  const bool changes = seen.tool == tool::kEdit || seen.tool == tool::kWrite;
  if (changes && (!path || is_autorun_path(*path, seen.ask.directory))) return false;
  return !paths_.given() || (path && matches_path(paths_, *path, seen.ask.directory));
}

bool Rule::covers_loosely(const ParsedRequest& seen) const {
  const bool fits = !tools_.given() || tools_.matches(seen.tool) || (seen.runs && tools_.matches(tool::kBash));
  if (!fits) return false;
  if (commands_.given()) {
    if (!seen.runs) return false;
    const bool found = commands_.matches(*seen.ask.command) ||
                       std::ranges::any_of(seen.commands, [&](const auto& each) { return commands_.matches(each); });
    if (!found) return false;
  }
  return !paths_.given() || std::ranges::any_of(seen.pieces, [&](const auto& each) {
    return matches_path(paths_, each, seen.ask.directory);
  });
}

}  // namespace relay::permissions
