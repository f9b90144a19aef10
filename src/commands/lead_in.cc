#include "commands/lead_in.h"

#include <algorithm>
#include <array>

#include "commands/line_shape.h"
#include "text/utf8.h"

namespace relay::commands {
namespace {

constexpr std::array<std::string_view, 42> kMarks = {
    ">", "$", "%", "#", "-", "*", "+", "»", "→", "➜", "›", "●", "•", "◦", "‣", "⁃", "⏺", "◆", "◇", "○", "□",
    "■", "│", "┃", "┆", "┇", "┊", "┋", "╎", "╏", "║", "▎", "▏", "▍", "▌", "✦", "❯", "❱", "▶", "▸", "✱", "✻"};
constexpr std::array<std::string_view, 8> kListMarks = {"-", "*", "+", "•", "◦", "‣", "⁃", "○"};
constexpr std::array<std::string_view, 6> kQuoteMarks = {">", "│", "┃", "▎", "▌", "║"};

template <class Marks>
bool holds(const Marks& marks, std::string_view mark) {
  return std::ranges::find(marks, mark) != marks.end();
}

void skip_blanks(std::string_view line, LeadIn& lead) { lead.end += leading_blanks(line.substr(lead.end)); }

}  // namespace

LeadIn start_lead_in(std::string_view line) {
  return {.end = leading_blanks(line), .quote_depth = 0, .list_marker = {}};
}

bool take_lead_in_mark(std::string_view line, LeadIn& lead) {
  const auto rest = line.substr(lead.end);
  if (rest.empty() || !may_start_lead_in(static_cast<unsigned char>(rest[0]))) return false;
  if (const auto item = list_item(rest); item && item->numbered) {
    lead.list_marker = lead.end;
    lead.end += item->content;
    return true;
  }
  const auto mark = rest.substr(0, text::character_bytes(rest));
  if (!holds(kMarks, mark)) return false;
  if (holds(kQuoteMarks, mark)) ++lead.quote_depth;
  const bool spaced = leading_blanks(rest.substr(mark.size())) > 0;
  if (spaced && holds(kListMarks, mark)) lead.list_marker = lead.end;
  lead.end += mark.size();
  skip_blanks(line, lead);
  return true;
}

bool may_start_lead_in(unsigned char first) {
  constexpr auto kTable = [] {
    std::array<bool, 256> table{};
    for (const auto mark : kMarks) table[static_cast<unsigned char>(mark[0])] = true;
    for (unsigned char digit = '0'; digit <= '9'; ++digit) table[digit] = true;
    return table;
  }();
  return kTable[first];
}

}  // namespace relay::commands
