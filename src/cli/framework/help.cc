#include "cli/framework/help.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/format.h"
#include "cli/framework/global_options.h"
#include "cli/render/text.h"
#include "config/settings.h"

namespace relay::cli {
namespace {

std::string synopsis(const Option& option) {
  if (!option.implicit_value.empty()) return relay::format("{} [{}]", option.name, option.value);
  return option.value.empty() ? std::string{option.name} : relay::format("{} {}", option.name, option.value);
}

std::string describe(const Option& option) {
  if (option.choices.empty()) return std::string{option.description};
  return relay::format("{} ({})", option.description, option.choices);
}

/// A paragraph without line breaks, for folding at the terminal's width.
std::string one_line(std::string_view paragraph) {
  std::string text{paragraph};
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Text for a cell of a Markdown table, which a bar would end.
std::string escape_cell(std::string text) {
  for (auto bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2)) text.insert(bar, "\\");
  return text;
}

/// The commands of which the overview has only the name.
std::string unlisted_names(Group group) {
  std::string names;
  for (const auto* command : command_table())
    if (command->group == group && !is_listed(*command))
      names += (names.empty() ? "" : ", ") + std::string{command->name};
  return names;
}

}  // namespace

std::string sentence(std::string_view summary) {
  std::string text{summary};
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

std::string usage_of(const Command& command) {
  const bool hints_argument =
      std::ranges::find(command.arguments, command.hint, &Argument::name) != command.arguments.end();
  return hints_argument ? relay::format("{} {}", command.usage, command.hint) : std::string{command.usage};
}

std::vector<Line> lines_of(const Command& command) {
  std::vector<Line> lines;
  for (const auto& argument : command.arguments)
    lines.push_back({std::string{argument.name}, std::string{argument.description}});
  for (const auto& option : command.options)
    if (!option.hidden) lines.push_back({synopsis(option), describe(option)});
  return lines;
}

std::string overview(std::size_t columns) {
  const bool narrow = columns > 0 && columns < kHelpColumns;
  std::string text =
      "usage: agent-relay [-C DIR] [--no-start] <command> [options]; <command> --help\n"
      "Let the command-line agents on this machine exchange messages.\n\n";
  std::size_t usage = 0, summary = 0;
  for (const auto* command : command_table()) {
    if (!is_listed(*command)) continue;
    usage = std::max(usage, command->usage.size());
    if (!command->hint.empty()) summary = std::max(summary, command->summary.size());
  }
  for (const auto group : kGroups) {
    if (is_only_named(group)) {
      text += relay::format("{}: {}\n", title_of(group), unlisted_names(group));
      continue;
    }
    text += relay::format("{}\n", title_of(group));
    for (const auto* command : command_table()) {
      if (command->group != group || !is_listed(*command)) continue;
      if (narrow) {
        text += relay::format("  {}\n", command->usage);
        text += fold(relay::format("      {}\n", command->summary), columns, 0);
        continue;
      }
      text += relay::format("  {:<{}}  {}", command->usage, usage, command->summary);
      if (!command->hint.empty())
        text += relay::format("{:<{}}  {}", "", summary - command->summary.size(), command->hint);
      text += "\n";
    }
    if (const auto others = unlisted_names(group); !others.empty()) text += relay::format("  also: {}\n", others);
  }
  text += relay::format("example: {}, then elsewhere: agent-relay send Bob hello\nexit codes: {}\n",
                        find_command("run")->example, kExitCodes);
  return fold(text, columns);
}

std::string help_of(const Command& command, std::size_t columns) {
  auto text = relay::format("usage: agent-relay {}{}\n\n{}\n", usage_of(command),
                            std::ranges::all_of(command.options, &Option::hidden) ? "" : " [options]",
                            sentence(command.summary));
  if (!command.details.empty())
    text += relay::format("{}\n", columns == 0 ? command.details : one_line(command.details));
  text = fold(text, columns, 0);
  const auto lines = lines_of(command);
  if (!lines.empty()) text += "\n";
  Table table{{}};
  for (const auto& line : lines) table.add({"  " + line.left, line.right});
  text += table.text(Styler{false}, columns);
  return text + fold(relay::format("\nexample: {}\n", command.example), columns);
}

std::string manual_markdown() {
  auto text = relay::format(
      "# The command line\n\nOne program, `agent-relay`, installed with the short name `relay`.\n{}\n{}\nExit codes: "
      "{}.\n"
      "This page is generated from the command table: `agent-relay completion manual > docs/cli.md`.\n",
      kGlobalOptions, kOutputRule, kExitCodes);
  for (const auto group : kGroups) {
    text += relay::format("\n## {}\n", title_of(group));
    for (const auto* command : command_table()) {
      if (command->group != group) continue;
      text += relay::format("\n### {}\n\n{}", command->name, sentence(command->summary));
      if (!command->details.empty()) text += relay::format("\n\n{}", command->details);
      text += relay::format("\n\n```text\nagent-relay {}\n```\n", usage_of(*command));
      const auto lines = lines_of(*command);
      if (!lines.empty()) text += "\n| | |\n|---|---|\n";
      for (const auto& line : lines) text += relay::format("| `{}` | {} |\n", line.left, escape_cell(line.right));
      text += relay::format("\nExample: `{}`\n", command->example);
    }
  }
  text +=
      "\n## settings\n\nSet in `config.toml`, by an environment variable, or (some) by a flag of `up`; the later "
      "overrides.\n"
      "\n| name | variable | default | meaning |\n|---|---|---|---|\n";
  for (const auto& row : config::setting_table())
    text += relay::format("| `{}` | {} | {} | {} |\n", row.name,
                          row.variable.empty() ? "(none)" : relay::format("`{}`", row.variable),
                          row.default_text.empty() ? "" : relay::format("`{}`", row.default_text),
                          escape_cell(std::string{row.description}));
  return text;
}

}  // namespace relay::cli
