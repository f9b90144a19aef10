/// The rules of each preset. docs/permissions.md describes them.
#include "permissions/presets.h"

#include "base/format.h"
#include "permissions/path_matching.h"
#include "permissions/tools.h"

namespace relay::permissions {
namespace {

/// A revision, a range, or a path below the current directory: nothing that starts with a dash, `/`, `~` or `..`.
/// Outside a repository, and for paths outside of one, `git diff` compares any two files, so paths must stay inside.
constexpr std::string_view kGitName =
    R"(\.|\.?[A-Za-z0-9_@+][A-Za-z0-9_@+^~.-]*(?:/\.?[A-Za-z0-9_@+][A-Za-z0-9_@+^~.-]*)*/?)";

// git accepts any unique prefix of a long option, so dangerous options cannot be listed; harmless ones can. Not among
// them: --output (writes a file), --ext-diff, --textconv and --show-signature (run programs), --no-index (reads any
// file), -O (reads one), -c, -C, --git-dir and --exec-path before the command (other settings), %G in a format (runs
// gpg). Programs that the repository's own settings make git run are not visible here; changing those settings is
// critical (is_autorun_path).
constexpr std::string_view kStatusOptions =
    R"(-s|-b|-sb|-bs|-z|-u(?:no|normal|all)?|--untracked-files(?:=(?:no|normal|all))?|--porcelain(?:=v[12])?|)"
    R"(--(?:short|branch|long|show-stash|ignored|no-renames|ahead-behind|no-ahead-behind))";
constexpr std::string_view kDiffOptions =
    R"(--(?:stat|shortstat|numstat|name-only|name-status|summary|patch|no-patch|raw|check|minimal|patience|histogram)|)"
    R"(--(?:no-ext-diff|no-textconv|no-color|color|color=(?:always|never|auto)|word-diff|no-renames|find-renames)|)"
    R"(--(?:ignore-all-space|ignore-space-change|ignore-blank-lines|exit-code|quiet|full-index|abbrev(?:=\d+)?)|)"
    R"(--(?:cached|staged|merge-base)|--stat=\d+(?:,\d+)*|--unified=\d+|-U\d+|--diff-filter=[A-Za-z]+|)"
    R"(--diff-algorithm=[a-z]+|-[pswbMCRz])";
constexpr std::string_view kLogOptions =
    R"(-\d+|-n ?\d+|--max-count=\d+|--skip=\d+|-i|--date=[a-z-]+|)"
    R"(--(?:oneline|graph|decorate|no-decorate|decorate=(?:short|full|auto|no)|abbrev-commit|no-abbrev-commit)|)"
    R"(--(?:all|branches|tags|remotes|first-parent|merges|no-merges|reverse|follow|topo-order|date-order)|)"
    R"(--(?:since|until|after|before|author|committer|grep)=[^'*?\[ ]*|)"
    R"('--(?:since|until|after|before|author|committer|grep)=[^']*'|)"
    R"(--(?:format|pretty)=(?:[^%'*?\[ ]|%[^G'*?\[ +-])*|'--(?:format|pretty)=(?:[^%']|%[^G' +-])*')";

std::string git_command(std::string_view name, std::string_view options) {
  return format("git(?: --no-pager)? {}(?: (?:{}|{}))*(?: --(?: (?:{}))*)?", name, options, kGitName, kGitName);
}

std::vector<RuleSpec> read_only_specs() {
  const auto name = [](std::string_view tool) { return std::string{tool}; };
  const auto secrets = secret_globs();
  return {
      {.label = "preset read-only: asks about files that may hold a secret", .paths = {secrets.begin(), secrets.end()}},
      {.label = "preset read-only: approves reading, listing and searching",
       .tools = {name(tool::kRead), name(tool::kList), name(tool::kGlob), name(tool::kGrep)},
       .action = Action::Approve},
      {.label = "preset read-only: approves ls and pwd",
       .tools = {name(tool::kBash)},
       .commands = {"pwd(?: -[LP])?", "ls(?: .*)?"},
       .action = Action::Approve},
      {.label = "preset read-only: approves git status, log and diff with harmless options",
       .tools = {name(tool::kBash)},
       .commands = {git_command("status", kStatusOptions), git_command("diff", kDiffOptions),
                    git_command("log", format("{}|{}", kLogOptions, kDiffOptions))},
       .action = Action::Approve},
      {.label = "preset read-only: asks about commands that remove or destroy",
       .tools = {name(tool::kBash)},
       .commands = {"(?i)(?:rm|delete|drop|truncate)(?: .*)?"},
       .risk = RiskLevel::Critical},
  };
}

}  // namespace

const std::vector<Rule>* preset_rules(std::string_view name) {
  static const auto kReadOnly = [] {
    std::vector<Rule> rules;
    for (auto& spec : read_only_specs()) rules.push_back(Rule::compile(std::move(spec)).value());
    return rules;
  }();
  static const std::vector<Rule> kNone;
  if (name == kNoPreset) return &kNone;
  if (name == kReadOnlyPreset) return &kReadOnly;
  return nullptr;
}

}  // namespace relay::permissions
