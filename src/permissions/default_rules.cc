/// What is decided where a person has no rule of their own. docs/permissions.md repeats it in words.
#include "permissions/files.h"
#include "permissions/policy.h"
#include "permissions/tools.h"

namespace relay::permissions {
namespace {

/// A revision, a range, or a path below the current directory: nothing that begins with a dash, `/`, `~` or `..`. Outside
/// a repository, and for paths outside of one, `git diff` compares any two files, so paths may not lead away.
#define RELAY_GIT_NAME R"((?:\.|\.?[A-Za-z0-9_@+][A-Za-z0-9_@+^~.-]*(?:/\.?[A-Za-z0-9_@+][A-Za-z0-9_@+^~.-]*)*/?))"

// git takes any unique beginning of a long option, so what is dangerous cannot be listed; what is harmless can. Not among
// them: --output (writes a file), --ext-diff, --textconv and --show-signature (run programs), --no-index (reads any
// file), -O (reads one), -c, -C, --git-dir and --exec-path before the command (other settings), %G in a format (runs
// gpg). What the repository's own settings make git run is not seen here; to change those is critical (`runs_later`).
#define RELAY_GIT_SHOWN                                                                                                \
  R"(--(?:stat|shortstat|numstat|name-only|name-status|summary|patch|no-patch|raw|check|minimal|patience|histogram)|)" \
  R"(--(?:no-ext-diff|no-textconv|no-color|color|color=(?:always|never|auto)|word-diff|no-renames|find-renames)|)"     \
  R"(--(?:ignore-all-space|ignore-space-change|ignore-blank-lines|exit-code|quiet|full-index|abbrev(?:=\d+)?)|)"       \
  R"(--stat=\d+(?:,\d+)*|--unified=\d+|-U\d+|--diff-filter=[A-Za-z]+|--diff-algorithm=[a-z]+|-[pswbMCRz])"

std::vector<std::string> looking_commands() { return {"pwd(?: -[LP])?", "ls(?: .*)?"}; }

std::vector<std::string> git_commands() {
  return {
      R"(git(?: --no-pager)? status(?: (?:-s|-b|-sb|-bs|-z|--short|--branch|--long|--show-stash|--ignored|)"
      R"(--porcelain(?:=v[12])?|-u(?:no|normal|all)?|--untracked-files(?:=(?:no|normal|all))?|--no-renames|)"
      R"(--ahead-behind|--no-ahead-behind|)" RELAY_GIT_NAME R"())*(?: --(?: )" RELAY_GIT_NAME R"()*)?)",
      R"(git(?: --no-pager)? diff(?: (?:--cached|--staged|--merge-base|)" RELAY_GIT_SHOWN R"(|)" RELAY_GIT_NAME
      R"())*(?: --(?: )" RELAY_GIT_NAME R"()*)?)",
      R"(git(?: --no-pager)? log(?: (?:-\d+|-n ?\d+|--max-count=\d+|--skip=\d+|)"
      R"(--(?:oneline|graph|decorate|no-decorate|decorate=(?:short|full|auto|no)|abbrev-commit|no-abbrev-commit)|)"
      R"(--(?:all|branches|tags|remotes|first-parent|merges|no-merges|reverse|follow|topo-order|date-order)|)"
      R"(--date=[a-z-]+|--(?:since|until|after|before|author|committer|grep)=[^'*?\[ ]*|)"
      R"('--(?:since|until|after|before|author|committer|grep)=[^']*'|-i|)"
      R"(--(?:format|pretty)=(?:[^%'*?\[ ]|%[^G'*?\[ +-])*|'--(?:format|pretty)=(?:[^%']|%[^G' +-])*'|)" RELAY_GIT_SHOWN
      R"(|)" RELAY_GIT_NAME R"())*(?: --(?: )" RELAY_GIT_NAME R"()*)?)"};
}

std::vector<RuleText> texts() {
  const auto name = [](std::string_view tool) { return std::string{tool}; };
  const auto secrets = secret_globs();
  return {
      {.words = "default: what may hold a secret is asked", .paths = {secrets.begin(), secrets.end()}},
      {.words = "default: reading, listing and searching are approved",
       .tools = {name(tool::kRead), name(tool::kList), name(tool::kGlob), name(tool::kGrep)},
       .action = Action::Approve},
      {.words = "default: ls and pwd are approved",
       .tools = {name(tool::kBash)},
       .commands = looking_commands(),
       .action = Action::Approve},
      {.words = "default: git status, log and diff are approved with harmless options",
       .tools = {name(tool::kBash)},
       .commands = git_commands(),
       .action = Action::Approve},
      {.words = "default: what removes or destroys is asked",
       .tools = {name(tool::kBash)},
       .commands = {"(?i)(?:rm|delete|drop|truncate)(?: .*)?"},
       .risk = RiskLevel::Critical},
  };
}

}  // namespace

const std::vector<Rule>& default_rules() {
  static const auto kRules = [] {
    std::vector<Rule> rules;
    for (auto& text : texts()) rules.push_back(Rule::compile(std::move(text)).value());
    return rules;
  }();
  return kRules;
}

}  // namespace relay::permissions
