#include "activity/outcome.h"

#include <charconv>

#include "base/json.h"

namespace relay::activity {
namespace {

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return std::nullopt;
  return number;
}

std::optional<Outcome> codex_json(std::string_view result) {
  if (!result.starts_with('{')) return std::nullopt;
  const auto object = parse_json_object(result);
  const auto* more = object ? object_member(*object, "metadata") : nullptr;
  if (more == nullptr) return std::nullopt;
  return Outcome{integer_member(*more, "exit_code"), string_member(*object, "output").value_or("")};
}

/// Lines about the command, then `Output:`.
std::optional<Outcome> codex_text(std::string_view result) {
  Outcome outcome;
  bool in_header = false;
  for (auto rest = result; !rest.empty();) {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line == "Output:" && in_header) {
      outcome.output = rest;
      return outcome;
    }
    if (line.starts_with("Exit code: "))
      outcome.exit_code = parse_number(line.substr(11));
    else if (line.starts_with("Process exited with code "))
      outcome.exit_code = parse_number(line.substr(25));
    else if (!line.starts_with("Wall time") && !line.starts_with("Chunk ID: ") &&
             !line.starts_with("Total output lines: ") && !line.starts_with("Original token count: ") &&
             !line.starts_with("Process running with session ID ") && !line.starts_with("Script completed") &&
             !line.starts_with("Script failed") && !line.starts_with("Script terminated"))
      return std::nullopt;
    in_header = true;
  }
  return std::nullopt;
}

std::optional<Outcome> claude_text(std::string_view result) {
  constexpr std::string_view kMark = "Exit code ";
  if (!result.starts_with(kMark)) return std::nullopt;
  const auto end = result.find('\n');
  const auto code = parse_number(result.substr(kMark.size(), end - kMark.size()));
  if (!code) return std::nullopt;
  return Outcome{code, std::string{end == std::string_view::npos ? std::string_view{} : result.substr(end + 1)}};
}

std::optional<Outcome> gemini_text(std::string_view result) {
  constexpr std::string_view kOpen = "<untrusted_context>\n", kClose = "\n</untrusted_context>", kOutput = "Output: ";
  if (result.starts_with(kOpen)) result.remove_prefix(kOpen.size());
  result = result.substr(0, result.rfind(kClose));
  if (!result.starts_with(kOutput)) return std::nullopt;
  result.remove_prefix(kOutput.size());
  Outcome outcome{.exit_code = 0};
  // The program's notes about the command come after the command's output.
  for (bool more = true; more;) {
    const auto line_end = result.rfind('\n');
    const auto line = line_end == std::string_view::npos ? std::string_view{} : result.substr(line_end + 1);
    if (line.starts_with("Exit Code: "))
      outcome.exit_code = parse_number(line.substr(11));
    else if (line.starts_with("Error: ") || line.starts_with("Signal: ") || line.starts_with("Background PIDs: "))
      outcome.exit_code = outcome.exit_code == 0 ? std::nullopt : outcome.exit_code;
    else if (!line.starts_with("Process Group PGID: "))
      more = false;
    if (more) result = result.substr(0, line_end);
  }
  outcome.output = result == "(empty)" ? std::string_view{} : result;
  return outcome;
}

}  // namespace

Outcome parse_outcome(std::string_view result) {
  for (const auto read : {codex_json, codex_text, claude_text, gemini_text})
    if (auto outcome = read(result)) return *std::move(outcome);
  return {.output = std::string{result}};
}

}  // namespace relay::activity
