#include "cli/framework/man_page.h"

#include "base/format.h"
#include "cli/framework/command.h"
#include "cli/framework/global_options.h"
#include "cli/framework/help.h"
#include "cli/version.h"
#include "config/settings.h"

namespace relay::cli {
namespace {

/// Escapes text for roff: dashes, backslashes, and requests at the start of a line.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool at_line_start = out.empty() || out.back() == '\n';
    if (at_line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '-')
      out += "\\-";
    else if (c == '\\')
      out += "\\e";
    else
      out += c;
  }
  return out;
}

/// A tagged paragraph.
std::string item(std::string_view tag, std::string_view text) {
  return relay::format(".TP\n.B {}\n{}\n", roff(tag), roff(text));
}

std::string section_of(const Command& command) {
  auto text = relay::format(".TP\n.B agent\\-relay {}\n{}\n", roff(usage_of(command)), roff(sentence(command.summary)));
  if (!command.details.empty()) text += roff(command.details) + "\n";
  text += ".RS\n";
  for (const auto& line : lines_of(command)) text += item(line.left, line.right);
  return text + relay::format(".PP\nExample:\n.B {}\n.RE\n", roff(command.example));
}

}  // namespace

std::string man_page() {
  auto text = relay::format(
      ".TH AGENT\\-RELAY 1 \"\" \"agent\\-relay {}\" \"Agent Relay\"\n"
      ".SH NAME\nagent\\-relay \\- let the command\\-line agents on this machine exchange messages\n"
      ".SH SYNOPSIS\n.B agent\\-relay\n.I command\n[options]\n",
      roff(kVersion));
  for (const auto group : kGroups) {
    text += relay::format(".SH {}\n", roff(title_of(group)));
    for (const auto* command : command_table())
      if (command->group == group) text += section_of(*command);
  }
  text += relay::format(".SH OPTIONS\n{}\n.SH OUTPUT\n{}\n.SH EXIT STATUS\n{}\n.SH SETTINGS\n", roff(kGlobalOptions),
                        roff(kOutputRule), roff(kExitCodes));
  for (const auto& row : config::setting_table())
    text += item(row.variable.empty() ? std::string{row.name} : relay::format("{}, ${}", row.name, row.variable),
                 row.description);
  return text;
}

}  // namespace relay::cli
