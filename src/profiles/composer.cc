#include "profiles/composer.h"

#include <algorithm>

#include "commands/line_shape.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kMaxComposerRows = 60;

std::size_t end_of_run(const ScreenFrame& frame, std::size_t row) {
  while (row < frame.rows.size() && !frame.rows[row].blank()) ++row;
  return row;
}

/// The upper edge of a box: of a dialog, or of a tool's output. Only hints are below a composer.
bool starts_box(std::string_view text) {
  const auto at = text.find_first_not_of(' ');
  return at != std::string_view::npos && text.substr(at).starts_with("╭");
}

}  // namespace

Above find_above(const Regex& wanted, const ScreenFrame& frame, std::size_t row) {
  while (row > 0 && !frame.rows[row - 1].blank())
    if (wanted.matches(frame.rows[--row].text)) return Above::Yes;
  return row == 0 ? Above::CutOff : Above::No;
}

Result<ComposerFinder> ComposerFinder::compile(const ComposerRule& rule) {
  ComposerFinder finder;
  for (const auto& [from, into] : {std::pair{&rule.first, &finder.first_},
                                   {&rule.exclude, &finder.exclude_},
                                   {&rule.continuation, &finder.continuation_},
                                   {&rule.above, &finder.above_},
                                   {&rule.below, &finder.below_},
                                   {&rule.placeholder, &finder.placeholder_},
                                   {&rule.decoration, &finder.decoration_}})
    *into = RELAY_TRY(Regex::compile(*from));
  finder.dim_is_placeholder_ = rule.dim_is_placeholder;
  finder.line_mode_ = rule.line_mode;
  return finder;
}

/// The composer's first row, if its rows end just before `end`.
std::optional<std::size_t> ComposerFinder::top(const ScreenFrame& frame, std::size_t end) const {
  const auto floor = std::max(frame.screen_top, end - std::min(end, kMaxComposerRows));
  if (continuation_.given()) {  // a box: all its rows look alike
    std::size_t row = end;
    while (row > floor && continuation_.matches(frame.rows[row - 1].text)) --row;
    return row < end && first_.matches(frame.rows[row].text) ? std::optional{row} : std::nullopt;
  }
  for (std::size_t row = end; row-- > floor;) {
    const auto& text = frame.rows[row].text;
    if (below_.given() && below_.matches(text)) return std::nullopt;
    if (!first_.matches(text)) continue;
    if (exclude_.matches(text)) return std::nullopt;
    if (above_.given() && (row == 0 || !above_.matches(frame.rows[row - 1].text))) return std::nullopt;
    return row;
  }
  return std::nullopt;
}

Composer ComposerFinder::read(const ScreenFrame& frame, std::size_t from, std::size_t end) const {
  Composer found{.first = from, .last = end - 1};
  found.focused = frame.cursor_row >= from && frame.cursor_row < end;
  bool all_dim = true;
  for (std::size_t row = from; row < end; ++row) {
    const auto& seen = frame.rows[row];
    if (decoration_.matches(seen.text)) continue;
    std::string typed;
    if (!(row == from || continuation_.given() || line_mode_ ? first_ : continuation_).capture(seen.text, typed))
      typed = seen.text;
    typed = std::string{commands::trimmed(typed)};
    if (typed.empty() || placeholder_.matches(typed)) continue;
    all_dim = all_dim && seen.all_dim;
    found.draft += found.draft.empty() ? typed : "\n" + typed;
  }
  if (dim_is_placeholder_ && all_dim) found.draft.clear();
  return found;
}

/// The rows around the cursor with no empty row between, from the first that is a prompt.
std::optional<Composer> ComposerFinder::find_line(const ScreenFrame& frame) const {
  const auto cursor = frame.cursor_row;
  if (!frame.takes_pastes || cursor >= frame.rows.size() || frame.rows[cursor].blank()) return std::nullopt;
  const auto floor = std::max(frame.screen_top, cursor - std::min(cursor, kMaxComposerRows));
  std::size_t from = cursor + 1;
  for (std::size_t row = cursor + 1; row-- > floor && !frame.rows[row].blank();) {
    const auto& text = frame.rows[row].text;
    if (exclude_.matches(text)) return std::nullopt;
    if (first_.matches(text))
      from = row;
    else if (from == row + 1 && from <= cursor)
      break;  // above a prompt: not part of it
  }
  if (from > cursor || (above_.given() && find_above(above_, frame, from) != Above::Yes)) return std::nullopt;
  return read(frame, from, end_of_run(frame, cursor));
}

std::optional<Composer> ComposerFinder::find(const ScreenFrame& frame) const {
  if (!first_.given()) return std::nullopt;
  if (line_mode_) return find_line(frame);
  if (!below_.given()) {
    const auto from = top(frame, frame.rows.size());
    if (!from) return std::nullopt;
    return read(frame, *from, end_of_run(frame, *from + 1));
  }
  bool box_below = false;
  for (std::size_t row = frame.rows.size(); row-- > frame.screen_top;) {
    box_below = box_below || starts_box(frame.rows[row].text);
    if (!below_.matches(frame.rows[row].text)) continue;
    const auto from = top(frame, row);
    if (!from) continue;
    // Some programs draw the user's input like a composer: above a dialog, and without the cursor, it is input.
    if (auto found = read(frame, *from, row); found.focused || !box_below) return found;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace relay::profiles
