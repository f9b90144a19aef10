#include "permissions/rule.h"

#include <algorithm>

#include "permissions/path_matching.h"
#include "permissions/tools.h"
#include "text/visible_text.h"

namespace relay::permissions {

Result<Rule> Rule::compile(RuleSpec spec) {
  const bool approves = spec.action == Action::Approve;
  const auto matching = approves ? Matching::Strict : Matching::Loose;
  Rule rule;
  for (auto& name : spec.tools) name = canonical_tool(name);
  const bool of_bash = std::ranges::find(spec.tools, tool::kBash) != spec.tools.end();
  if (approves && of_bash && spec.commands.empty())
    return fail("a rule that approves bash must name its commands; command = '.*' means every simple one");
  if (approves && !spec.commands.empty() && !spec.paths.empty())
    return fail("a rule that approves commands cannot have a path: which files a command uses cannot be determined");
  if (spec.timeout && spec.action != Action::Ask)
    return fail("only a rule that asks can have a timeout; the others do not wait");
  rule.tools_ = RELAY_TRY(Pattern::of_names(spec.tools));
  rule.commands_ = RELAY_TRY(Pattern::of_commands(spec.commands, matching));
  rule.paths_ = RELAY_TRY(Pattern::of_files(spec.paths, matching));
  rule.agents_ = RELAY_TRY(Pattern::of_names(spec.agents));
  rule.spec_ = std::move(spec);
  return rule;
}

bool Rule::covers(const ParsedRequest& parsed) const {
  if (!is_about(parsed.request.agent)) return false;
  return spec_.action == Action::Approve ? covers_strictly(parsed) : covers_loosely(parsed);
}

bool Rule::is_about(std::string_view agent) const { return !agents_.is_set() || agents_.matches(agent); }

bool Rule::covers_strictly(const ParsedRequest& parsed) const {
  if (tools_.is_set() && !tools_.matches(parsed.tool)) return false;
  const auto& path = parsed.request.file_path;
  if (path && (path->empty() || !text::is_visible_text(*path))) return false;
  if (parsed.request.command || parsed.tool == tool::kBash)
    return parsed.simple && commands_.matches(parsed.simple->text);
  if (commands_.is_set()) return false;
  if (parsed.tool == tool::kRead && !path) return false;
  const bool changes = parsed.tool == tool::kEdit || parsed.tool == tool::kWrite;
  if (changes && (!path || is_autorun_path(*path, parsed.request.directory))) return false;
  return !paths_.is_set() || (path && matches_path(paths_, *path, parsed.request.directory));
}

bool Rule::covers_loosely(const ParsedRequest& parsed) const {
  const bool fits = !tools_.is_set() || tools_.matches(parsed.tool) || (parsed.runs && tools_.matches(tool::kBash));
  if (!fits) return false;
  if (commands_.is_set()) {
    if (!parsed.runs) return false;
    const bool found = commands_.matches(*parsed.request.command) ||
                       std::ranges::any_of(parsed.commands, [&](const auto& each) { return commands_.matches(each); });
    if (!found) return false;
  }
  return !paths_.is_set() || std::ranges::any_of(parsed.pieces, [&](const auto& each) {
    return matches_path(paths_, each, parsed.request.directory);
  });
}

}  // namespace relay::permissions
