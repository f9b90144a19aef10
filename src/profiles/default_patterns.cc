#include "profiles/default_patterns.h"

#include <vector>

namespace relay::profiles {

std::span<const Pattern> default_patterns() {
  static const std::vector<Pattern> patterns = {
      // Permission dialogs
      {"claude-proceed", Role::PermissionHead, R"(^Do you want to proceed\?$)"},
      {"claude-file", Role::PermissionHead,
       R"(^Do you want to (?:create|overwrite|write|edit|make this edit to|delete|read|fetch) ?(?P<command>.*)\?$)"},
      {"codex-command", Role::PermissionHead, R"(^Would you like to run the following (?P<tool>command)\?$)"},
      {"codex-edits", Role::PermissionHead, R"(^Would you like to make the following (?P<tool>edits)\?$)"},
      {"codex-mcp", Role::PermissionHead, R"(^Allow the (?P<tool>.+ MCP server) to run tool (?P<command>.+?)\??$)"},
      {"gemini-run", Role::PermissionHead, R"(^Allow execution of \[?(?P<tool>[^\]?]+)\]?\?$)"},
      {"gemini-change", Role::PermissionHead, R"(^Apply this change\?$)"},
      {"opencode", Role::PermissionHead, R"(^△ Permission required$)"},

      {"claude-tool", Role::PermissionTool, R"(^(?:Permission Required: )?(?P<tool>[A-Z]\w+) command$)"},
      {"claude-file-tool", Role::PermissionTool, R"(^(?P<tool>Create|Edit|Overwrite|Write|Read) file$)"},
      {"claude-call-tool", Role::PermissionTool, R"(^● (?P<tool>[A-Z]\w+)\(.+\)$)"},
      {"gemini-tool", Role::PermissionTool, R"(^\? +(?P<tool>\w+) {2,}\S)"},
      {"opencode-shell-tool", Role::PermissionTool, R"(^# (?P<tool>\w+) command$)"},
      {"opencode-file-tool", Role::PermissionTool, R"(^→ (?P<tool>\w+) .+$)"},

      {"claude-command", Role::PermissionCommand, R"(^⎿ +\$ (?P<command>.+)$)"},
      {"claude-call", Role::PermissionCommand, R"(^● [A-Z]\w+\((?P<command>.+)\)$)"},
      {"claude-ax-command", Role::PermissionCommand, R"(^tool: \w+ \((?P<command>.+)\)$)"},
      {"shell-command", Role::PermissionCommand, R"(^\$ (?P<command>.+)$)"},
      {"codex-destination", Role::PermissionCommand, R"(^Destination: (?P<command>.+)$)"},
      {"gemini-command", Role::PermissionCommand, R"(^\? +\w+ {2,}(?P<command>.+)$)"},
      {"opencode-edit", Role::PermissionCommand, R"(^→ \w+ (?P<command>.+)$)"},

      // Questions
      {"claude-question", Role::QuestionHead, R"(^(?:← +)?☐ .+$)"},
      {"claude-ax-question", Role::QuestionHead, R"(^Question: .+$)"},
      {"codex-question", Role::QuestionHead, R"(^Question \d+/\d+\b.*$)"},
      {"gemini-question", Role::QuestionHead, R"(^Answer Questions$)"},
      {"codex-limit-question", Role::QuestionHead, R"(^(?P<text>Approaching rate limits.*)$)"},
      {"gemini-limit-question", Role::QuestionHead, R"(^(?P<text>Usage limit reached.*)$)"},

      // What a dialog offers
      {"numbered", Role::Choice,
       R"(^(?P<mark>[❯›●>•] *|\(checked\) )?(?P<number>\d+)\. +(?P<label>\S.*?)(?: \((?P<key>esc|tab|shift\+tab|[a-z])\))?(?: {2,}.*| — .*)?$)"},
      {"opencode-buttons", Role::Choice, R"(^(?P<labels>Allow once {2,}Allow always {2,}Reject)\b)"},

      // Tokens
      {"codex-status", Role::Usage,
       R"(^Token usage: +(?P<total>[\d.,]+[KMB]?) total +\((?P<input>[\d.,]+[KMB]?) input(?: \+ (?P<cached>[\d.,]+[KMB]?) cached)? \+ (?P<output>[\d.,]+[KMB]?) output\))"},
      {"codex-exit", Role::Usage,
       R"(^Token usage: total=(?P<total>[\d,]+) input=(?P<input>[\d,]+)(?: \(\+ (?P<cached>[\d,]+) cached\))? output=(?P<output>[\d,]+))"},
      {"claude-usage", Role::Usage,
       R"((?P<input>[\d.,]+[kmb]?) input, (?P<output>[\d.,]+[kmb]?) output(?:, (?P<cached>[\d.,]+[kmb]?) cache read)?)"},
      {"claude-working", Role::Usage, R"(^\S .+… \(.*[↓↑] (?P<output>[\d.,]+[kmb]?) tokens)"},
      {"gemini-stats", Role::Usage,
       R"(^(?P<model>gemini-\S+) +\d+ +(?P<input>[\d,]+) +(?P<cached>[\d,]+) +(?P<output>[\d,]+)$)"},
      {"opencode-footer", Role::Usage,
       R"((?:^|[^\d.])(?P<total>\d[\d.]*[KMB]?) \((?P<percent>\d+)%\)(?: · \$(?P<cost>\d+\.\d+))?)"},

      // Limits
      {"claude-plan", Role::Limit,
       R"(^(?:[●⎿■] *)?You['’]ve hit your (?P<what>.+? limit)(?: · resets (?P<resets>.+))?$)"},
      {"claude-429", Role::Limit, R"(API Error: (?P<what>Request rejected \(429\)(?: · .*)?)$)"},
      {"codex-usage", Role::Limit,
       R"(^■ (?P<what>You['’]ve hit your usage limit)(?:.*try again at (?P<resets>[^.]+))?)"},
      {"codex-try-again", Role::Limit, R"(^(?P<what>.*)\btry again at (?P<resets>\d[^.]*)\.?$)"},
      {"codex-429", Role::Limit, R"((?P<what>exceeded retry limit, last status: 429[^,]*))"},
      {"gemini-usage", Role::Limit, R"(^(?P<what>Usage limit reached[^.]*)\.?$)"},
      {"opencode-retry", Role::Limit, R"(^(?:[⬝■]+ +)?(?P<what>.+?) \[retrying in (?P<resets>\S+) attempt #\d+\])"},
      {"openai-rate", Role::Limit, R"((?P<what>Rate limit reached for \S+))"},
  };
  return patterns;
}

}  // namespace relay::profiles
