#include "profiles/screen_findings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "commands/line_shape.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kDialogRows = 24;  // above and below the head; the largest measured is 18
constexpr std::size_t kGapRows = 3;      // between two choices: a description, a rule
constexpr std::size_t kTextRows = 6;     // of a question

std::string captured(const Match& match, std::string_view name) {
  const auto found = match.captures.find(name);
  return found == match.captures.end() ? std::string{} : std::string{commands::trimmed(found->second)};
}

std::size_t distance(std::size_t a, std::size_t b) { return a > b ? a - b : b - a; }

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
  return out;
}

/// A captured text near the head, with its row.
struct Near {
  std::string text;
  std::size_t row;
};

/// The rows of a dialog and the text above its choices; empty if its first row is unknown.
struct Extent {
  std::size_t first = 0, last = 0;
  std::string_view body = {};

  /// The text of another dialog is elsewhere; an agent may also show the call itself above the dialog.
  [[nodiscard]] bool holds(std::size_t row, std::string_view text) const {
    return body.empty() || (row >= first && row <= last) ||
           without_blanks(body).find(without_blanks(text)) != std::string::npos;
  }
};

/// The capture of this role nearest to the head; of two at the same distance the upper one.
Near nearest(std::span<const Match> matches, const Match& head, Role role, std::string_view name,
             const Extent& extent) {
  if (auto own = captured(head, name); !own.empty()) return {std::move(own), head.row};
  Near best{{}, head.row};
  std::size_t best_distance = kDialogRows + 1;
  for (const auto& match : matches) {
    if (match.role != role || match.row == head.row || distance(match.row, head.row) >= best_distance) continue;
    auto text = captured(match, name);
    if (text.empty() || !extent.holds(match.row, text)) continue;
    best = {std::move(text), match.row};
    best_distance = distance(match.row, head.row);
  }
  return best;
}

/// `(Y)es` is Yes, with the key y.
DialogChoice labelled(std::string_view label) {
  DialogChoice choice{.label = std::string{label}};
  if (label.size() < 3 || label[0] != '(' || label[2] != ')') return choice;
  choice.label.erase(2, 1).erase(0, 1);
  choice.key = std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(label[1]))));
  return choice;
}

/// `Allow once   Allow always   Reject`, separated by at least two blanks, or `(Y)es/(N)o`.
void add_labels(std::string_view labels, std::vector<DialogChoice>& choices) {
  while (!labels.empty()) {
    const auto end = std::min({labels.find("  "), labels.find('/'), labels.size()});
    choices.push_back(labelled(labels.substr(0, end)));
    labels = commands::trimmed(labels.substr(std::min(labels.find_first_not_of('/', end), labels.size())));
  }
}

struct Offer {
  std::vector<DialogChoice> choices = {};
  std::size_t first = 0, last = 0;  // rows
  bool only = true;                 // no other row below the head looks like a choice
};

/// The lowest list: everything above it is part of the question.
Offer offer_of(std::span<const Match> matches, const Match& head) {
  Offer offer{.first = head.row, .last = head.row};
  if (const auto own = captured(head, "labels"); !own.empty()) {
    add_labels(own, offer.choices);
    return offer;
  }
  for (const auto& match : matches) {
    if (match.role != Role::Choice || match.row <= head.row) continue;
    const auto labels = captured(match, "labels");
    const auto number = captured(match, "number");
    const bool first = offer.choices.empty();
    const bool continues = !first && labels.empty() && match.row - offer.last <= kGapRows &&
                           (number.empty() || number == std::to_string(offer.choices.size() + 1));
    if (first && match.row - head.row > kDialogRows) break;
    if (!first && !continues) offer.only = false;
    const bool starts = first || !labels.empty() || number.empty() || number == "1";
    if (!continues && !starts) continue;  // the rest of another list
    if (!continues) {
      offer.choices.clear();
      offer.first = match.row;
    }
    if (!labels.empty())
      add_labels(labels, offer.choices);
    else
      offer.choices.push_back(
          {number, captured(match, "label"), captured(match, "key"), !captured(match, "mark").empty()});
    offer.last = match.row;
  }
  return offer;
}

/// Number of characters before the first non-blank.
std::size_t column_of_text(std::string_view row) { return std::min(row.find_first_not_of(' '), row.size()); }

/// `❯ No` above `  Yes`: a list without numbers, whose rows start in one column. The user's input has the same mark,
/// but at the screen's edge.
Offer cursor_list(std::span<const std::string> rows, const Match& head) {
  static constexpr std::string_view kMark = "❯ ";
  Offer offer{.first = head.row, .last = head.row};
  const auto end = std::min(rows.size(), head.row + kDialogRows);
  std::optional<std::size_t> marked;
  for (auto row = head.row + 1; row < end; ++row) {
    const auto column = column_of_text(rows[row]);
    if (column == 0 || !std::string_view{rows[row]}.substr(column).starts_with(kMark)) continue;
    offer.only = !marked;
    marked = row;
  }
  if (!marked) return offer;
  const auto column = column_of_text(rows[*marked]);
  const auto belongs = [&](std::size_t row) { return column_of_text(rows[row]) == column + 2; };
  offer.first = offer.last = *marked;
  while (offer.first > head.row + 1 && belongs(offer.first - 1)) --offer.first;
  while (offer.last + 1 < end && belongs(offer.last + 1)) ++offer.last;
  for (auto row = offer.first; row <= offer.last; ++row) {
    const auto text = std::string_view{rows[row]}.substr(row == *marked ? column + kMark.size() : column + 2);
    offer.choices.push_back({.label = std::string{commands::trimmed(text)}, .marked = row == *marked});
  }
  return offer;
}

/// A horizontal rule.
bool is_drawn_line(std::string_view row) {
  static constexpr std::string_view kStrokes[] = {"─", "━", "═", "╭", "╮", "╰", "╯", "┌", "┐", "└", "┘", "▄", "▀", "╌"};
  for (row = commands::trimmed(row); !row.empty();) {
    const auto stroke = std::ranges::find_if(kStrokes, [&](std::string_view each) { return row.starts_with(each); });
    if (stroke == std::end(kStrokes)) return false;
    row.remove_prefix(stroke->size());
  }
  return true;
}

std::string dialog_text(std::span<const std::string> rows, std::size_t from, std::size_t end) {
  end = std::min(end, rows.size());
  return profiles::dialog_text(rows.subspan(std::min(from, end), end - std::min(from, end)));
}

/// The lowest of the heads, and whether there are others.
struct Head {
  const Match* match = nullptr;
  bool only = true;
};

Head lowest(std::span<const Match> matches, Role role) {
  Head head;
  for (const auto& match : matches) {
    if (match.role != Role::PermissionHead && match.role != Role::QuestionHead) continue;
    if (head.match != nullptr) head.only = false;
    if (match.role == role) head.match = &match;
  }
  return head;
}

std::string question_text(std::span<const Match> matches, const Match& head, std::span<const std::string> rows) {
  if (auto own = captured(head, "text"); !own.empty()) return own;
  std::string text;
  for (auto row = head.row + 1; row < rows.size() && row <= head.row + kTextRows; ++row) {
    auto line = without_frame(rows[row]);
    while (line.starts_with('>')) line = commands::trimmed(line.substr(1));
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

ScreenUsage usage_of(const Match& match) {
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

std::string dialog_text(std::span<const std::string> rows) {
  std::string text;
  for (const auto& row : rows) {
    const auto line = without_frame(row);
    if (is_drawn_line(line)) continue;
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

ScreenFindings detect(const PatternDetector& detector, std::span<const std::string> rows, const TopOf& top_of) {
  const auto matches = detector.matches(rows);
  ScreenFindings findings;
  if (const auto [head, only] = lowest(matches, Role::PermissionHead); head != nullptr) {
    auto offer = offer_of(matches, *head);
    if (offer.choices.empty()) offer = cursor_list(rows, *head);
    if (!offer.choices.empty()) {  // text alone is prose; a dialog offers choices
      const auto top = top_of ? top_of(head->row) : std::nullopt;
      const auto end = std::max(offer.first, head->row + 1);
      auto body = top ? dialog_text(rows, *top, end) : std::string{};
      const Extent extent{.first = top.value_or(0), .last = offer.last, .body = body};
      auto tool = nearest(matches, *head, Role::PermissionTool, "tool", extent);
      auto command = nearest(matches, *head, Role::PermissionCommand, "command", extent);
      if (!top) body = dialog_text(rows, std::min({head->row, tool.row, command.row}), end);
      findings.permission = PermissionDialog{.row = head->row,
                                             .pattern = std::string{head->pattern},
                                             .tool = std::move(tool.text),
                                             .command = std::move(command.text),
                                             .choices = std::move(offer.choices),
                                             .body = std::move(body),
                                             .is_complete = top && only && offer.only,
                                             .last = offer.last};
    }
  }
  if (const auto [head, only] = lowest(matches, Role::QuestionHead); head != nullptr) {
    auto offer = offer_of(matches, *head);
    const auto top = top_of ? top_of(head->row) : std::nullopt;
    if (!offer.choices.empty())
      findings.question =
          QuestionDialog{.row = head->row,
                         .pattern = std::string{head->pattern},
                         .text = question_text(matches, *head, rows),
                         .choices = std::move(offer.choices),
                         .body = dialog_text(rows, top.value_or(head->row), std::max(offer.first, head->row + 1)),
                         .is_complete = top && only && offer.only,
                         .last = offer.last};
  }
  for (const auto& match : matches) {
    if (match.role == Role::Usage) findings.usage.push_back(usage_of(match));
    if (match.role == Role::Limit)
      findings.limits.push_back(
          {match.row, std::string{match.pattern}, captured(match, "what"), captured(match, "resets")});
  }
  return findings;
}

}  // namespace relay::profiles
