#include "profiles/regions.h"

#include <algorithm>

#include "profiles/regex.h"
#include "speech/default_patterns.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kMaxComposerRows = 60;
constexpr std::size_t kLowerRows = 40;  // where marks of work and dialogs are looked for, blank rows not counted

std::size_t indent_of(std::string_view text) {
  const auto at = text.find_first_not_of(' ');
  return at == std::string_view::npos ? text.size() : at;
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string{text.substr(first, text.find_last_not_of(' ') - first + 1)};
}

void append_without_blanks(std::string& out, std::string_view text) {
  for (const char c : text)
    if (c != ' ' && c != '\t') out += c;
}

/// The text behind the first `columns` characters; marks are single characters of one column.
std::string_view behind(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size() && count < columns; ++count) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return text.substr(at);
}

}  // namespace

struct Eyes::Parts {
  struct Rule {
    RowKind kind;
    Regex pattern;
    Look look;
    bool joins;
  };
  Profile profile;
  std::vector<Rule> rules;
  std::vector<Regex> working, dialogs;
  Regex first, never, more, above, below, placeholder, furniture;
  Regex idle_title, working_title, blocked_title;
  std::optional<speech::Detector> detector;

  [[nodiscard]] std::optional<Composer> find_composer(const Sight& sight) const;
  [[nodiscard]] std::optional<std::size_t> composer_top(const Sight& sight, std::size_t end) const;
  [[nodiscard]] Composer composer_at(const Sight& sight, std::size_t top, std::size_t end) const;
  [[nodiscard]] std::size_t width_of_text(int columns, bool soft) const {
    const auto taken = soft ? 0 : profile.indent + profile.margin;
    return static_cast<std::size_t>(columns) > taken ? static_cast<std::size_t>(columns) - taken : 1;
  }
  void read_conversation(const Sight& sight, std::size_t end, std::vector<Paragraph>& out) const;
};

Eyes::Eyes(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {}
Eyes::Eyes(Eyes&&) noexcept = default;
Eyes& Eyes::operator=(Eyes&&) noexcept = default;
Eyes::~Eyes() = default;

Result<Eyes> Eyes::open(Profile profile) {
  auto parts = std::make_unique<Parts>();
  for (const auto& row : profile.rows)
    parts->rules.push_back({row.kind, RELAY_TRY(Regex::compile(row.pattern)), row.look, row.joins});
  for (const auto& pattern : profile.working) parts->working.push_back(RELAY_TRY(Regex::compile(pattern)));
  for (const auto& pattern : profile.dialogs) parts->dialogs.push_back(RELAY_TRY(Regex::compile(pattern)));
  const auto& composer = profile.composer;
  for (const auto& [from, into] : {std::pair{&composer.first, &parts->first},
                                   {&composer.more, &parts->more},
                                   {&composer.never, &parts->never},
                                   {&composer.above, &parts->above},
                                   {&composer.below, &parts->below},
                                   {&composer.placeholder, &parts->placeholder},
                                   {&composer.furniture, &parts->furniture},
                                   {&profile.titles.idle, &parts->idle_title},
                                   {&profile.titles.working, &parts->working_title},
                                   {&profile.titles.blocked, &parts->blocked_title}})
    *into = RELAY_TRY(Regex::compile(*from));
  std::vector<speech::Pattern> patterns = profile.patterns;
  if (patterns.empty()) patterns.assign(speech::default_patterns().begin(), speech::default_patterns().end());
  parts->detector = RELAY_TRY(speech::Detector::compile(patterns));
  parts->profile = std::move(profile);
  return Eyes{std::move(parts)};
}

const Profile& Eyes::profile() const { return parts_->profile; }

Eyes::TitleSays Eyes::title_says(const std::string& title) const {
  if (parts_->blocked_title.matches(title)) return TitleSays::Blocked;
  if (parts_->working_title.matches(title)) return TitleSays::Working;
  if (parts_->idle_title.matches(title)) return TitleSays::Idle;
  return TitleSays::Nothing;
}

/// The composer's first row, when its rows end just before `end`.
std::optional<std::size_t> Eyes::Parts::composer_top(const Sight& sight, std::size_t end) const {
  const auto floor = std::max(sight.screen_top, end - std::min(end, kMaxComposerRows));
  if (more.given()) {  // a box: all its rows look alike
    std::size_t top = end;
    while (top > floor && more.matches(sight.rows[top - 1].text)) --top;
    return top < end && first.matches(sight.rows[top].text) ? std::optional{top} : std::nullopt;
  }
  for (std::size_t row = end; row-- > floor;) {
    const auto& text = sight.rows[row].text;
    if (below.given() && below.matches(text)) return std::nullopt;
    if (!first.matches(text)) continue;
    if (never.matches(text)) return std::nullopt;
    if (above.given() && (row == 0 || !above.matches(sight.rows[row - 1].text))) return std::nullopt;
    return row;
  }
  return std::nullopt;
}

Composer Eyes::Parts::composer_at(const Sight& sight, std::size_t top, std::size_t end) const {
  Composer composer{.first = top, .last = end - 1};
  composer.focused = sight.cursor_row >= top && sight.cursor_row < end;
  bool all_dim = true;
  for (std::size_t row = top; row < end; ++row) {
    const auto& seen = sight.rows[row];
    if (furniture.matches(seen.text)) continue;
    std::string typed;
    if (!(row == top || more.given() ? first : more).capture(seen.text, typed)) typed = seen.text;
    typed = trimmed(typed);
    if (typed.empty() || placeholder.matches(typed)) continue;
    all_dim = all_dim && seen.all_dim;
    composer.draft += composer.draft.empty() ? typed : "\n" + typed;
  }
  if (profile.composer.dim_is_placeholder && all_dim) composer.draft.clear();
  return composer;
}

std::optional<Composer> Eyes::Parts::find_composer(const Sight& sight) const {
  if (!first.given()) return std::nullopt;
  if (!below.given()) {
    const auto top = composer_top(sight, sight.rows.size());
    if (!top) return std::nullopt;
    std::size_t end = *top + 1;
    while (end < sight.rows.size() && !trimmed(sight.rows[end].text).empty()) ++end;
    return composer_at(sight, *top, end);
  }
  for (std::size_t row = sight.rows.size(); row-- > sight.screen_top;) {
    if (!below.matches(sight.rows[row].text)) continue;
    if (const auto top = composer_top(sight, row)) return composer_at(sight, *top, row);
  }
  return std::nullopt;
}

void Eyes::Parts::read_conversation(const Sight& sight, std::size_t end, std::vector<Paragraph>& out) const {
  RowKind kind = RowKind::Chrome;
  bool open = false;  // the last paragraph may go on
  for (std::size_t i = 0; i < end; ++i) {
    const auto& seen = sight.rows[i];
    if (trimmed(seen.text).empty()) {
      open = false;
      continue;
    }
    const auto rule = std::ranges::find_if(rules, [&](const Rule& each) {
      return (each.look == Look::Any || each.look == seen.look) && each.pattern.matches(seen.text);
    });
    const bool begins = rule != rules.end();
    const bool soft = i > 0 && sight.rows[i - 1].soft && open;
    if (begins && !soft) {
      kind = rule->kind;
      open = open && rule->joins && !out.empty() && out.back().kind == rule->kind;
    } else if (!soft && indent_of(seen.text) < profile.indent) {
      kind = RowKind::Chrome;  // nothing we know: not the agent's words
      open = false;
    }
    if (kind == RowKind::Chrome) continue;
    if (!open) out.push_back({.kind = kind});
    open = true;
    const auto text = soft ? std::string_view{seen.text} : behind(seen.text, profile.indent);
    const auto indent = indent_of(text);
    auto& paragraph = out.back();
    append_without_blanks(paragraph.key, text);
    paragraph.lines.push_back({.text = std::string{text.substr(std::min(indent, text.size()))},
                               .indent = indent,
                               .width = width_of_text(sight.columns, soft),
                               .soft = seen.soft});
  }
}

Picture Eyes::read(const Sight& sight) const {
  Picture picture;
  picture.composer = parts_->find_composer(sight);
  const auto end = picture.composer ? picture.composer->first : sight.rows.size();
  parts_->read_conversation(sight, end, picture.conversation);
  std::vector<std::string> lower;
  for (std::size_t row = sight.rows.size(); row-- > sight.screen_top && lower.size() < kLowerRows;) {
    if (picture.composer && row >= picture.composer->first && row <= picture.composer->last) continue;
    if (!trimmed(sight.rows[row].text).empty()) lower.push_back(sight.rows[row].text);
  }
  std::ranges::reverse(lower);
  const auto any = [&](const std::vector<Regex>& patterns) {
    return std::ranges::any_of(lower, [&](const std::string& row) {
      return std::ranges::any_of(patterns, [&](const Regex& pattern) { return pattern.matches(row); });
    });
  };
  picture.working_mark = any(parts_->working);
  picture.dialog_mark = any(parts_->dialogs);
  picture.findings = speech::find(*parts_->detector, lower);
  return picture;
}

}  // namespace relay::profiles
