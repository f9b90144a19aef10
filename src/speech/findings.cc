#include "speech/findings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "speech/line_shape.h"

namespace relay::speech {
namespace {

constexpr std::size_t kDialogRows = 24;  // above and below the head; the largest seen is 18
constexpr std::size_t kGapRows = 3;      // between two choices: a description, a rule
constexpr std::size_t kTextRows = 6;     // of a question
constexpr std::size_t kRuleColumns = 5;

std::string captured(const Match& match, std::string_view name) {
  const auto found = match.captures.find(name);
  return found == match.captures.end() ? std::string{} : std::string{trimmed(found->second)};
}

std::size_t distance(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

/// What is said nearest to the head, and in which row.
struct Near {
  std::string text;
  std::size_t row;
};

/// The capture of that role nearest to the head; what stands above wins a tie.
Near nearest(std::span<const Match> matches, const Match& head, Role role, std::string_view name) {
  if (auto own = captured(head, name); !own.empty()) return {std::move(own), head.row};
  Near best{{}, head.row};
  std::size_t best_distance = kDialogRows + 1;
  for (const auto& match : matches) {
    if (match.role != role || match.row == head.row || distance(match.row, head.row) >= best_distance) continue;
    auto text = captured(match, name);
    if (text.empty()) continue;
    best = {std::move(text), match.row};
    best_distance = distance(match.row, head.row);
  }
  return best;
}

/// `(Y)es` is Yes, with the key y.
Choice labelled(std::string_view label) {
  Choice choice{.label = std::string{label}};
  if (label.size() < 3 || label[0] != '(' || label[2] != ')') return choice;
  choice.label.erase(2, 1).erase(0, 1);
  choice.key = std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(label[1]))));
  return choice;
}

/// `Allow once   Allow always   Reject`, parted by two blanks or more, or `(Y)es/(N)o`.
void add_labels(std::string_view labels, std::vector<Choice>& choices) {
  while (!labels.empty()) {
    const auto end = std::min({labels.find("  "), labels.find('/'), labels.size()});
    choices.push_back(labelled(labels.substr(0, end)));
    labels = trimmed(labels.substr(std::min(labels.find_first_not_of('/', end), labels.size())));
  }
}

struct Offer {
  std::vector<Choice> choices = {};
  std::size_t first = 0;  // its row
};

Offer offer_of(std::span<const Match> matches, const Match& asking) {
  Offer offer{.first = asking.row};
  auto& choices = offer.choices;
  if (const auto own = captured(asking, "labels"); !own.empty()) {
    add_labels(own, choices);
    return offer;
  }
  const std::size_t head = asking.row;
  std::size_t last = head;
  for (const auto& match : matches) {
    if (match.role != Role::Choice || match.row <= head) continue;
    const auto allowed = choices.empty() ? kDialogRows : kGapRows;
    if (match.row - last > allowed) break;
    if (choices.empty()) offer.first = match.row;
    if (const auto labels = captured(match, "labels"); !labels.empty()) {
      add_labels(labels, choices);
      break;
    }
    const auto number = captured(match, "number");
    if (!number.empty() && number != std::to_string(choices.size() + 1)) break;  // another list
    choices.push_back({number, captured(match, "label"), captured(match, "key"), !captured(match, "mark").empty()});
    last = match.row;
  }
  return offer;
}

/// A line across the screen that parts a dialog from what stands above it. Inside a frame it parts nothing.
bool is_rule(std::string_view row) {
  static constexpr std::string_view kStrokes[] = {"─", "━", "═", "╭", "╮", "╰", "╯", "┌",
                                                  "┐", "└", "┘", "▄", "▀", "▔", "▁"};
  std::size_t strokes = 0;
  for (row = trimmed(row); !row.empty(); ++strokes) {
    const auto stroke = std::ranges::find_if(kStrokes, [&](std::string_view each) { return row.starts_with(each); });
    if (stroke == std::end(kStrokes)) return false;
    row.remove_prefix(stroke->size());
  }
  return strokes >= kRuleColumns;
}

/// From the rule above the head, or, where there is none, from the first row that is known to belong to it.
std::string body_of(std::span<const std::string> rows, std::size_t head, std::size_t first_known,
                    std::size_t first_choice) {
  auto from = std::min(head, first_known);
  for (auto row = head; row-- > 0 && head - row <= kDialogRows;)
    if (is_rule(rows[row])) {
      from = row + 1;
      break;
    }
  std::string body;
  for (auto row = from; row < std::max(first_choice, head + 1); ++row) {
    const auto line = without_frame(rows[row]);
    if (line.empty() || is_rule(line)) continue;
    if (!body.empty()) body += '\n';
    body += line;
  }
  return body;
}

const Match* lowest(std::span<const Match> matches, Role role) {
  const Match* found = nullptr;
  for (const auto& match : matches)
    if (match.role == role) found = &match;
  return found;
}

std::string question_text(std::span<const Match> matches, const Match& head, std::span<const std::string> rows) {
  if (auto own = captured(head, "text"); !own.empty()) return own;
  std::string text;
  for (auto row = head.row + 1; row < rows.size() && row <= head.row + kTextRows; ++row) {
    auto line = without_frame(rows[row]);
    while (line.starts_with('>')) line = trimmed(line.substr(1));
    const bool choice = std::ranges::any_of(
        matches, [&](const Match& match) { return match.role == Role::Choice && match.row == row; });
    if (choice || (line.empty() && !text.empty())) break;
    if (line.empty()) continue;
    if (!text.empty()) text += ' ';
    text += line;
  }
  return text;
}

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const auto result = std::from_chars(text.begin(), text.end(), number);
  return result.ec == std::errc{} && result.ptr == text.end() ? std::optional{number} : std::nullopt;
}

Usage usage_of(const Match& match) {
  return {.row = match.row,
          .pattern = std::string{match.pattern},
          .model = captured(match, "model"),
          .input_tokens = parse_count(captured(match, "input")),
          .output_tokens = parse_count(captured(match, "output")),
          .cached_tokens = parse_count(captured(match, "cached")),
          .total_tokens = parse_count(captured(match, "total")),
          .cost_dollars = parse_number(captured(match, "cost")),
          .percent = parse_count(captured(match, "percent"))};
}

}  // namespace

std::optional<std::int64_t> parse_count(std::string_view text) {
  double factor = 1;
  if (!text.empty()) switch (text.back()) {
      case 'k':
      case 'K': factor = 1e3; break;
      case 'm':
      case 'M': factor = 1e6; break;
      case 'b':
      case 'B': factor = 1e9; break;
      default: break;
    }
  if (factor > 1) text.remove_suffix(1);
  std::string digits;
  for (const char c : text)
    if (c != ',') digits += c;
  const auto number = parse_number(digits);
  if (!number || *number < 0 || *number * factor > 9e15) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*number * factor));
}

Findings find(const Detector& detector, std::span<const std::string> rows) {
  const auto matches = detector.matches(rows);
  Findings findings;
  if (const auto* head = lowest(matches, Role::PermissionHead)) {
    auto offer = offer_of(matches, *head);
    if (!offer.choices.empty()) {  // words alone are prose; a dialog offers something
      auto tool = nearest(matches, *head, Role::PermissionTool, "tool");
      auto command = nearest(matches, *head, Role::PermissionCommand, "command");
      findings.permission =
          PermissionPrompt{.row = head->row,
                           .pattern = std::string{head->pattern},
                           .tool = std::move(tool.text),
                           .command = std::move(command.text),
                           .choices = std::move(offer.choices),
                           .body = body_of(rows, head->row, std::min(tool.row, command.row), offer.first)};
    }
  }
  if (const auto* head = lowest(matches, Role::QuestionHead)) {
    auto offer = offer_of(matches, *head);
    if (!offer.choices.empty())
      findings.question = Question{.row = head->row,
                                   .pattern = std::string{head->pattern},
                                   .text = question_text(matches, *head, rows),
                                   .choices = std::move(offer.choices),
                                   .body = body_of(rows, head->row, head->row, offer.first)};
  }
  for (const auto& match : matches) {
    if (match.role == Role::Usage) findings.usage.push_back(usage_of(match));
    if (match.role == Role::Limit)
      findings.limits.push_back(
          {match.row, std::string{match.pattern}, captured(match, "what"), captured(match, "resets")});
  }
  return findings;
}

}  // namespace relay::speech
