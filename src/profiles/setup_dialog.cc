#include "profiles/setup_dialog.h"

#include <algorithm>
#include <iterator>

#include "commands/line_shape.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kSetupGapRows = 3;  // between two choices: a description, an empty row

std::string dialog_text(std::span<const ScreenRow> rows) {
  std::vector<std::string> texts;
  std::ranges::transform(rows, std::back_inserter(texts), &ScreenRow::text);
  return profiles::dialog_text(texts);
}

}  // namespace

Result<SetupDialogs> SetupDialogs::compile(const std::vector<SetupRule>& rules) {
  SetupDialogs dialogs;
  for (const auto& rule : rules)
    dialogs.dialogs_.push_back({rule, RELAY_TRY(Regex::compile(rule.first)), RELAY_TRY(Regex::compile(rule.choice)),
                                RELAY_TRY(Regex::compile(rule.mark)), RELAY_TRY(Regex::compile(rule.below)),
                                RELAY_TRY(Regex::compile(rule.approve)), RELAY_TRY(Regex::compile(rule.deny))});
  return dialogs;
}

profiles::DialogChoice SetupDialogs::choice_of(const Compiled& dialog, std::string label) {
  const auto meaning = dialog.approve.matches(label) ? profiles::ChoiceMeaning::Approve
                       : dialog.deny.matches(label)  ? profiles::ChoiceMeaning::Deny
                                                     : profiles::ChoiceMeaning::Other;
  return {.label = std::move(label), .meaning = meaning};
}

/// None: another row is below the dialog, so it is closed.
std::optional<SetupDialogs::Offer> SetupDialogs::offer_of(const Compiled& dialog, std::span<const ScreenRow> rows,
                                                          std::size_t from) {
  Offer offer{.first = rows.size(), .end = rows.size()};
  for (auto row = from; dialog.choice.given() && row < rows.size(); ++row) {
    std::string label;
    if (!dialog.choice.capture(rows[row].text, label)) continue;
    if (!offer.choices.empty() && row - offer.end > kSetupGapRows)
      offer.choices.clear();  // a list above the relevant one
    if (offer.choices.empty()) offer.first = row;
    offer.choices.push_back(choice_of(dialog, std::string{commands::trimmed(label)}));
    offer.choices.back().number = std::to_string(offer.choices.size());
    offer.choices.back().marked = dialog.mark.matches(rows[row].text);
    offer.end = row + 1;
  }
  const auto is_below = [&](const ScreenRow& row) { return dialog.below.matches(row.text); };
  if (!dialog.choice.given()) {
    const auto below = std::ranges::find_if(rows.subspan(from), is_below);
    offer.first = offer.end = static_cast<std::size_t>(below - rows.begin());
    for (const auto& [label, key] : dialog.rule.options) {
      offer.choices.push_back(choice_of(dialog, label));
      offer.choices.back().number = std::to_string(offer.choices.size());
      offer.choices.back().shortcut_key = key;
    }
  }
  const auto rest = rows.subspan(offer.end);
  if (!std::ranges::all_of(rest, [&](const ScreenRow& row) { return row.blank() || is_below(row); }))
    return std::nullopt;
  const bool closed = !dialog.below.given() || std::ranges::any_of(rest, is_below);
  const bool marked = std::ranges::count_if(offer.choices, &profiles::DialogChoice::marked) == 1;
  offer.is_complete = closed && !offer.choices.empty() && (marked || !dialog.choice.given());
  return offer;
}

std::optional<profiles::ScreenFindings> SetupDialogs::find(const Compiled& dialog, std::span<const ScreenRow> rows,
                                                           std::size_t top) {
  auto offer = offer_of(dialog, rows, top + 1);
  if (!offer) return std::nullopt;
  auto body = dialog_text(rows.subspan(top, offer->first - top));
  const auto last = offer->end - 1;
  profiles::ScreenFindings findings;
  findings.of_setup = true;
  if (dialog.rule.kind == SetupKind::Permission) {
    findings.permission = profiles::PermissionDialog{.row = top,
                                                     .pattern = dialog.rule.name,
                                                     .tool = dialog.rule.name,
                                                     .command = {},
                                                     .choices = std::move(offer->choices),
                                                     .body = std::move(body),
                                                     .is_complete = offer->is_complete,
                                                     .last = last};
  } else {
    findings.question = profiles::QuestionDialog{.row = top,
                                                 .pattern = dialog.rule.name,
                                                 .text = dialog.rule.text.empty() ? body : dialog.rule.text,
                                                 .choices = std::move(offer->choices),
                                                 .is_complete = offer->is_complete,
                                                 .last = last};
    findings.question->body = findings.question->text;
  }
  return findings;
}

std::optional<profiles::ScreenFindings> SetupDialogs::find(std::span<const ScreenRow> rows) const {
  for (auto row = rows.size(); row-- > 0;) {
    if (rows[row].blank()) continue;
    for (const auto& dialog : dialogs_)
      if (dialog.first.matches(rows[row].text))
        if (auto found = find(dialog, rows, row)) return found;
  }
  return std::nullopt;
}

}  // namespace relay::profiles
