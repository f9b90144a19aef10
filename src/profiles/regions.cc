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

bool is_blank(std::string_view text) { return text.find_first_not_of(' ') == std::string_view::npos; }

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

/// The text behind `claude: `.
std::string_view behind_word(std::string_view text) {
  const auto colon = text.find(':');
  const auto at = colon == std::string_view::npos ? colon : text.find_first_not_of(' ', colon + 1);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

}  // namespace

struct Eyes::Parts {
  struct Rule {
    RowKind kind;
    Look look;
    bool flat;
    bool joins;
  };
  struct ComposerPatterns {
    Regex first, never, more, above, below, placeholder, furniture;
    bool dim_is_placeholder = true;

    static Result<ComposerPatterns> compile(const ComposerRule& rule);
    [[nodiscard]] std::optional<Composer> find(const Sight& sight) const;
    [[nodiscard]] std::optional<std::size_t> top(const Sight& sight, std::size_t end) const;
    [[nodiscard]] Composer read(const Sight& sight, std::size_t top, std::size_t end) const;
  };
  Profile profile;
  std::vector<Rule> rules;
  RegexSet row_patterns;  // of the rules, in their order
  RegexSet working, dialogs;
  ComposerPatterns composer, flat_composer;
  Regex idle_title, working_title, blocked_title;
  std::optional<speech::Detector> detector;

  [[nodiscard]] std::size_t width_of_text(int columns, bool soft) const {
    const auto taken = soft ? 0 : profile.indent + profile.margin;
    return static_cast<std::size_t>(columns) > taken ? static_cast<std::size_t>(columns) - taken : 1;
  }
  void read_conversation(const Sight& sight, std::size_t end, std::vector<Paragraph>& out,
                         std::vector<bool>& spoken) const;
};

Eyes::Eyes(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {}
Eyes::Eyes(Eyes&&) noexcept = default;
Eyes& Eyes::operator=(Eyes&&) noexcept = default;
Eyes::~Eyes() = default;

Result<Eyes> Eyes::open(Profile profile) {
  auto parts = std::make_unique<Parts>();
  std::vector<std::string> patterns_of_rows;
  for (const auto& row : profile.rows) {
    parts->rules.push_back({row.kind, row.look, row.flat, row.joins});
    patterns_of_rows.push_back(row.pattern);
  }
  parts->row_patterns = RELAY_TRY(RegexSet::compile(patterns_of_rows));
  parts->working = RELAY_TRY(RegexSet::compile(profile.working));
  parts->dialogs = RELAY_TRY(RegexSet::compile(profile.dialogs));
  parts->composer = RELAY_TRY(Parts::ComposerPatterns::compile(profile.composer));
  parts->flat_composer = RELAY_TRY(Parts::ComposerPatterns::compile(profile.flat_composer));
  parts->idle_title = RELAY_TRY(Regex::compile(profile.titles.idle));
  parts->working_title = RELAY_TRY(Regex::compile(profile.titles.working));
  parts->blocked_title = RELAY_TRY(Regex::compile(profile.titles.blocked));
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
std::optional<std::size_t> Eyes::Parts::ComposerPatterns::top(const Sight& sight, std::size_t end) const {
  const auto floor = std::max(sight.screen_top, end - std::min(end, kMaxComposerRows));
  if (more.given()) {  // a box: all its rows look alike
    std::size_t row = end;
    while (row > floor && more.matches(sight.rows[row - 1].text)) --row;
    return row < end && first.matches(sight.rows[row].text) ? std::optional{row} : std::nullopt;
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

Composer Eyes::Parts::ComposerPatterns::read(const Sight& sight, std::size_t from, std::size_t end) const {
  Composer found{.first = from, .last = end - 1};
  found.focused = sight.cursor_row >= from && sight.cursor_row < end;
  bool all_dim = true;
  for (std::size_t row = from; row < end; ++row) {
    const auto& seen = sight.rows[row];
    if (furniture.matches(seen.text)) continue;
    std::string typed;
    if (!(row == from || more.given() ? first : more).capture(seen.text, typed)) typed = seen.text;
    typed = trimmed(typed);
    if (typed.empty() || placeholder.matches(typed)) continue;
    all_dim = all_dim && seen.all_dim;
    found.draft += found.draft.empty() ? typed : "\n" + typed;
  }
  if (dim_is_placeholder && all_dim) found.draft.clear();
  return found;
}

Result<Eyes::Parts::ComposerPatterns> Eyes::Parts::ComposerPatterns::compile(const ComposerRule& rule) {
  ComposerPatterns patterns;
  for (const auto& [from, into] : {std::pair{&rule.first, &patterns.first},
                                   {&rule.never, &patterns.never},
                                   {&rule.more, &patterns.more},
                                   {&rule.above, &patterns.above},
                                   {&rule.below, &patterns.below},
                                   {&rule.placeholder, &patterns.placeholder},
                                   {&rule.furniture, &patterns.furniture}})
    *into = RELAY_TRY(Regex::compile(*from));
  patterns.dim_is_placeholder = rule.dim_is_placeholder;
  return patterns;
}

std::optional<Composer> Eyes::Parts::ComposerPatterns::find(const Sight& sight) const {
  if (!first.given()) return std::nullopt;
  if (!below.given()) {
    const auto from = top(sight, sight.rows.size());
    if (!from) return std::nullopt;
    std::size_t end = *from + 1;
    while (end < sight.rows.size() && !is_blank(sight.rows[end].text)) ++end;
    return read(sight, *from, end);
  }
  for (std::size_t row = sight.rows.size(); row-- > sight.screen_top;) {
    if (!below.matches(sight.rows[row].text)) continue;
    if (const auto from = top(sight, row)) return read(sight, *from, row);
  }
  return std::nullopt;
}

void Eyes::Parts::read_conversation(const Sight& sight, std::size_t end, std::vector<Paragraph>& out,
                                    std::vector<bool>& spoken) const {
  RowKind kind = RowKind::Chrome;
  bool open = false;  // the last paragraph may go on
  bool flat = false;  // the block began with a word, its rows are not indented
  for (std::size_t i = 0; i < end; ++i) {
    const auto& seen = sight.rows[i];
    if (is_blank(seen.text)) {
      open = false;
      continue;
    }
    const Rule* rule = nullptr;
    for (const int index : row_patterns.which(seen.text)) {
      const auto& each = rules[static_cast<std::size_t>(index)];
      if (each.look != Look::Any && each.look != seen.look) continue;
      rule = &each;
      break;
    }
    const bool begins = rule != nullptr;
    const bool soft = i > 0 && sight.rows[i - 1].soft && open;
    if (begins && !soft) {
      kind = rule->kind;
      flat = rule->flat;
      open = open && rule->joins && !out.empty() && out.back().kind == rule->kind;
    } else if (!soft && !flat && indent_of(seen.text) < profile.indent) {
      kind = RowKind::Chrome;  // nothing we know: not the agent's words
      open = false;
    }
    if (kind == RowKind::Chrome) continue;
    spoken[i] = true;
    if (!open) out.push_back({.kind = kind});
    open = true;
    const auto text = soft     ? std::string_view{seen.text}
                      : !flat  ? behind(seen.text, profile.indent)
                      : begins ? behind_word(seen.text)
                               : std::string_view{seen.text};
    const auto indent = indent_of(text);
    auto& paragraph = out.back();
    append_without_blanks(paragraph.key, text);
    paragraph.lines.push_back({.text = std::string{text.substr(std::min(indent, text.size()))},
                               .indent = indent,
                               .width = width_of_text(sight.columns, soft || flat),
                               .soft = seen.soft});
  }
}

Picture Eyes::read(const Sight& sight) const {
  Picture picture;
  picture.composer = parts_->composer.find(sight);
  if (!picture.composer) picture.composer = parts_->flat_composer.find(sight);
  const auto end = picture.composer ? picture.composer->first : sight.rows.size();
  std::vector<bool> spoken(sight.rows.size());
  parts_->read_conversation(sight, end, picture.conversation, spoken);
  const auto lower = [&](std::size_t from, bool with_spoken) {
    std::vector<std::string> rows;
    for (std::size_t row = sight.rows.size(); row-- > from && rows.size() < kLowerRows;) {
      if (picture.composer && row >= picture.composer->first && row <= picture.composer->last) continue;
      if ((with_spoken || !spoken[row]) && !is_blank(sight.rows[row].text)) rows.push_back(sight.rows[row].text);
    }
    std::ranges::reverse(rows);
    return rows;
  };
  const auto any = [](const RegexSet& patterns, const std::vector<std::string>& rows) {
    return std::ranges::any_of(rows, [&](const std::string& row) { return patterns.matches(row); });
  };
  // Words that were said never count as marks: anybody can say "esc to interrupt".
  picture.working_mark = any(parts_->working, lower(sight.screen_top, false));
  picture.findings = speech::find(*parts_->detector, lower(sight.screen_top, true));
  // A composer that is seen may be an old message that looks like one: a dialog below it counts all the same.
  const auto asking = lower(picture.composer ? picture.composer->last + 1 : sight.screen_top, true);
  picture.dialog_mark = any(parts_->dialogs, asking);
  if (picture.composer) {
    auto below = speech::find(*parts_->detector, asking);
    picture.findings.permission = std::move(below.permission);
    picture.findings.question = std::move(below.question);
  }
  return picture;
}

}  // namespace relay::profiles
