#include "permissions/parsed_request.h"

#include <algorithm>

#include "permissions/tools.h"

namespace relay::permissions {
namespace {

constexpr std::string_view kBetweenCommands = ";&|<>(){}`\n\r";
constexpr std::string_view kBetweenPieces = " \t\n\r\"'\\;&|<>(){}[]`$=:,@";
constexpr std::string_view kVariableOfBlanks = "$IFS";

/// Ignores quotes and backslashes, so a separator inside them separates too.
std::vector<std::string> loose_commands(std::string_view text) {
  const bool has_braces = text.contains('{');
  std::vector<std::string> commands;
  std::string command;
  const auto blank = [&] {
    if (!command.empty() && command.back() != ' ') command += ' ';
  };
  const auto finish = [&] {
    while (command.ends_with(' ') || command.ends_with('$')) command.pop_back();
    if (!command.empty()) commands.push_back(std::move(command));
    command.clear();
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (kBetweenCommands.contains(c)) {
      finish();
    } else if (text.substr(at).starts_with(kVariableOfBlanks)) {
      blank();
      at += kVariableOfBlanks.size() - 1;
    } else if (c == ' ' || c == '\t' || (c == ',' && has_braces)) {
      blank();
    } else if (c != '\'' && c != '"' && c != '\\') {
      command += c;
    }
  }
  finish();
  return commands;
}

void add_pieces(std::string_view text, std::vector<std::string>& pieces) {
  while (!text.empty()) {
    const auto end = text.find_first_of(kBetweenPieces);
    if (end != 0) pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace

ParsedRequest::ParsedRequest(const PermissionRequest& from) : request{from}, tool{canonical_tool(from.tool)} {
  runs = request.command && tool != permissions::tool::kEdit && tool != permissions::tool::kWrite;
  if (runs) {
    auto read = read_simple_command(*request.command);
    if (read)
      simple = *std::move(read);
    else
      not_simple = read.error().message();
    commands = loose_commands(*request.command);
    add_pieces(*request.command, pieces);
    for (const auto& command : commands) add_pieces(command, pieces);  // `.e''nv`
  }
  if (request.file_path) pieces.push_back(*request.file_path);
  add_pieces(request.description, pieces);
  std::ranges::sort(pieces);
  const auto repeated = std::ranges::unique(pieces);
  pieces.erase(repeated.begin(), repeated.end());
}

}  // namespace relay::permissions
