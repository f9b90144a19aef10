#include "profiles/compiled_profile.h"

#include <algorithm>
#include <span>

#include "profiles/default_patterns.h"
#include "profiles/regex.h"
#include "profiles/setup_dialog.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kEndless = 1'000'000;  // columns: no break was for want of room
constexpr std::size_t kLowerRows = 40;       // where marks of work and dialogs are looked for, blank rows not counted

std::size_t indent_of(std::string_view text) {
  const auto at = text.find_first_not_of(' ');
  return at == std::string_view::npos ? text.size() : at;
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

/// The text behind `claude: `.
std::string_view behind_word(std::string_view text) {
  const auto colon = text.find(':');
  const auto at = colon == std::string_view::npos ? colon : text.find_first_not_of(' ', colon + 1);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

}  // namespace

struct CompiledProfile::Parts {
  struct Spoken {
    std::vector<bool> rows;    // hold words, and so no marks: anybody can say "esc to interrupt"
    std::vector<bool> said;    // of these, the agent's and the person's own words, not those of tools
    std::size_t last_own = 0;  // where the person spoke last
  };
  struct Rule {
    RowKind kind;
    CharacterStyle look;
    bool screen_reader;
    std::vector<RowKind> joins;
    Regex above, until;

    /// Of a row whose text fits.
    [[nodiscard]] bool fits(const ScreenFrame& sight, std::size_t row) const {
      return (look == CharacterStyle::Any || look == sight.rows[row].look) &&
             (!above.given() || look_above(above, sight, row) != Above::No);
    }
  };
  Profile profile;
  std::vector<Rule> rules;
  RegexSet row_patterns;  // of the rules, in their order
  RegexSet working_rows, dialog_rows, question_rows, tool_rows, start_page, ready;
  ComposerFinder composer, screen_reader_composer;
  Regex idle_title, working_title, blocked_title;
  Regex approve, deny, first_row, footer;
  SetupDialogs setup;
  std::optional<profiles::PatternDetector> detector;

  [[nodiscard]] std::size_t width_of_text(const ScreenFrame& sight, std::size_t row, bool whole) const {
    if (!profile.wraps && !sight.rows[row].soft) return kEndless;
    const auto columns = static_cast<std::size_t>(sight.columns);
    const std::size_t taken = whole ? 0 : profile.indent + profile.margin;
    return columns > taken ? columns - taken : 1;
  }
  [[nodiscard]] const Rule* rule_for(const ScreenFrame& sight, std::size_t row) const {
    for (const int index : row_patterns.which(sight.rows[row].text))
      if (const auto& each = rules[static_cast<std::size_t>(index)]; each.fits(sight, row)) return &each;
    return nullptr;
  }
  void read_conversation(const ScreenFrame& sight, std::size_t end, std::vector<Paragraph>& out, Spoken& spoken) const;
  void read_marks(const ScreenFrame& sight, const Spoken& spoken, ScreenAnalysis& picture) const;

  /// The lowest rows that are not blank, from the top.
  struct Lower {
    std::vector<std::string> rows = {};
    bool cut = false;  // there were more
  };
  [[nodiscard]] profiles::ScreenFindings find_in(const Lower& lower) const;
};

CompiledProfile::CompiledProfile(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {}
CompiledProfile::CompiledProfile(CompiledProfile&&) noexcept = default;
CompiledProfile& CompiledProfile::operator=(CompiledProfile&&) noexcept = default;
CompiledProfile::~CompiledProfile() = default;

Result<CompiledProfile> CompiledProfile::open(Profile profile) {
  auto parts = std::make_unique<Parts>();
  std::vector<std::string> patterns_of_rows;
  for (const auto& row : profile.rows) {
    parts->rules.push_back({row.kind, row.look, row.screen_reader, row.joins, RELAY_TRY(Regex::compile(row.above)),
                            RELAY_TRY(Regex::compile(row.until))});
    patterns_of_rows.push_back(row.pattern);
  }
  for (const auto& [from, into] : {std::pair{&patterns_of_rows, &parts->row_patterns},
                                   {&profile.working_rows, &parts->working_rows},
                                   {&profile.dialog_rows, &parts->dialog_rows},
                                   {&profile.question_rows, &parts->question_rows},
                                   {&profile.tool_rows, &parts->tool_rows},
                                   {&profile.start_page, &parts->start_page},
                                   {&profile.ready, &parts->ready}})
    *into = RELAY_TRY(RegexSet::compile(*from));
  parts->composer = RELAY_TRY(ComposerFinder::compile(profile.composer));
  parts->screen_reader_composer = RELAY_TRY(ComposerFinder::compile(profile.screen_reader_composer));
  parts->idle_title = RELAY_TRY(Regex::compile(profile.titles.idle));
  parts->working_title = RELAY_TRY(Regex::compile(profile.titles.working));
  parts->blocked_title = RELAY_TRY(Regex::compile(profile.titles.blocked));
  parts->approve = RELAY_TRY(Regex::compile(profile.dialogs.approve));
  parts->deny = RELAY_TRY(Regex::compile(profile.dialogs.deny));
  parts->first_row = RELAY_TRY(Regex::compile(profile.dialogs.first_row));
  parts->footer = RELAY_TRY(Regex::compile(profile.dialogs.footer));
  parts->setup = RELAY_TRY(SetupDialogs::compile(profile.setup));
  std::vector<profiles::Pattern> patterns = profile.patterns;
  if (patterns.empty()) patterns.assign(profiles::default_patterns().begin(), profiles::default_patterns().end());
  parts->detector = RELAY_TRY(profiles::PatternDetector::compile(patterns));
  parts->profile = std::move(profile);
  return CompiledProfile{std::move(parts)};
}

const Profile& CompiledProfile::profile() const { return parts_->profile; }

bool CompiledProfile::has_composer() const { return !parts_->profile.composer.first.empty(); }

bool CompiledProfile::is_ready(const ScreenFrame& sight) const {
  return parts_->profile.ready.empty() ||
         std::ranges::any_of(sight.rows, [this](const ScreenRow& row) { return parts_->ready.matches(row.text); });
}

CompiledProfile::TitleState CompiledProfile::title_says(const std::string& title) const {
  if (parts_->blocked_title.matches(title)) return TitleState::Blocked;
  if (parts_->working_title.matches(title)) return TitleState::Working;
  if (parts_->idle_title.matches(title)) return TitleState::Idle;
  return TitleState::Nothing;
}

/// Whose words each row holds, from the top; a row that is nobody's is Chrome.
void CompiledProfile::Parts::read_conversation(const ScreenFrame& sight, std::size_t end, std::vector<Paragraph>& out,
                                               Spoken& spoken) const {
  RowKind kind = RowKind::Chrome;
  bool open = false;             // the last paragraph may go on
  bool screen_reader = false;    // the block began with a word, its rows are not indented
  const Rule* holder = nullptr;  // whose rows these are up to its `until`
  for (std::size_t i = 0; i < end; ++i) {
    const auto& seen = sight.rows[i];
    const bool soft = i > 0 && sight.rows[i - 1].soft && (open || kind == RowKind::Chrome || holder != nullptr);
    const auto* rule = soft || seen.blank() ? nullptr : rule_for(sight, i);
    if (holder != nullptr) {
      const bool next_words = rule != nullptr && rule->kind == RowKind::User && rule->above.given();
      spoken.rows[i] = !next_words;
      spoken.said[i] = !next_words && holder->kind != RowKind::Tool;
      if (soft || (!next_words && !holder->until.matches(seen.text))) continue;
      holder = nullptr;
      kind = RowKind::Chrome;
    }
    if (seen.blank()) {
      open = false;
      continue;
    }
    if (rule != nullptr) {
      holder = rule->until.given() ? rule : nullptr;
      open = open && !out.empty() && std::ranges::find(rule->joins, out.back().kind) != rule->joins.end();
      kind = open ? out.back().kind : rule->kind;
      screen_reader = rule->screen_reader;
    } else if (!soft && !screen_reader && indent_of(seen.text) < profile.indent) {
      kind = RowKind::Chrome;  // nothing we know: not the agent's words
      open = false;
    }
    if (kind == RowKind::Chrome) continue;
    spoken.rows[i] = true;
    spoken.said[i] = kind == RowKind::Assistant || kind == RowKind::User;
    if (kind == RowKind::User) spoken.last_own = i;
    if (!open) out.push_back({.kind = kind});
    open = holder == nullptr;
    const auto text = soft              ? std::string_view{seen.text}
                      : !screen_reader  ? behind(seen.text, profile.indent)
                      : rule != nullptr ? behind_word(seen.text)
                                        : std::string_view{seen.text};
    const auto indent = indent_of(text);
    auto& paragraph = out.back();
    append_without_blanks(paragraph.key, text);
    paragraph.lines.push_back({.text = std::string{text.substr(std::min(indent, text.size()))},
                               .indent = indent,
                               .width = width_of_text(sight, i, soft || screen_reader),
                               .soft = seen.soft});
  }
}

/// A dialog is certain only if it is the lowest thing on the screen: what an agent says can look like one.
profiles::ScreenFindings CompiledProfile::Parts::find_in(const Lower& lower) const {
  const auto top_of = [&](std::size_t head) -> std::optional<std::size_t> {
    if (profile.composer.line_mode) return lower.cut ? std::nullopt : std::optional<std::size_t>{0};
    for (auto row = head + 1; row-- > 0;)
      if (first_row.matches(lower.rows[row])) return row;
    return std::nullopt;
  };
  auto findings = profiles::detect(*detector, lower.rows, top_of);
  const auto is_lowest = [&](std::size_t last) {
    return std::all_of(lower.rows.begin() + static_cast<std::ptrdiff_t>(last) + 1, lower.rows.end(),
                       [&](const std::string& row) { return footer.matches(row); });
  };
  if (auto& asked = findings.permission) asked->whole = asked->whole && is_lowest(asked->last);
  if (auto& asked = findings.question) asked->whole = asked->whole && is_lowest(asked->last);
  return findings;
}

void CompiledProfile::Parts::read_marks(const ScreenFrame& sight, const Spoken& spoken, ScreenAnalysis& picture) const {
  const auto& typed_in = picture.composer;
  const bool line = profile.composer.line_mode;
  // What a line-mode program has printed stays: only rows of this turn tell of now.
  const auto top = line ? std::max(sight.screen_top, spoken.last_own) : sight.screen_top;
  const std::vector<bool> none(sight.rows.size());
  const auto lower = [&](std::size_t from, const std::vector<bool>& without) {
    Lower found;
    for (std::size_t row = sight.rows.size(); row-- > from;) {
      if (typed_in && row >= typed_in->first && row <= typed_in->last) continue;
      if (without[row] || sight.rows[row].blank()) continue;
      if (found.rows.size() == kLowerRows) {
        found.cut = true;
        break;
      }
      found.rows.push_back(sight.rows[row].text);
    }
    std::ranges::reverse(found.rows);
    return found;
  };
  const auto any = [](const RegexSet& patterns, std::span<const std::string> rows) {
    return std::ranges::any_of(rows, [&](const std::string& row) { return patterns.matches(row); });
  };
  const auto all = lower(top, none);
  picture.findings = find_in(all);
  picture.working_mark = any(working_rows, lower(top, spoken.rows).rows);
  // A composer that is seen may be an old message that looks like one: a dialog below it counts all the same.
  const auto asking = typed_in ? lower(typed_in->last + 1, none) : all;
  picture.dialog_mark = any(dialog_rows, asking.rows);
  picture.dialog_in_words =
      picture.dialog_mark && !typed_in && !line && !any(dialog_rows, lower(top, spoken.said).rows);
  if (!typed_in && line) {
    picture.dialog_mark = picture.dialog_mark || any(question_rows, std::span{&sight.rows[sight.cursor_row].text, 1});
    picture.working_mark =
        picture.working_mark || (!all.rows.empty() && any(tool_rows, std::span{&all.rows.back(), 1}));
  }
  if (typed_in || (line && !picture.dialog_mark)) {
    auto below = typed_in ? find_in(asking) : profiles::ScreenFindings{};
    picture.findings.permission = std::move(below.permission);
    picture.findings.question = std::move(below.question);
  }
  // Questions that were answered stay where they are: the lower one is the one that waits.
  auto& [permission, question, usage, limits, of_setup] = picture.findings;
  if (line && permission && question) {
    if (permission->row < question->row)
      permission.reset();
    else
      question.reset();
  }
  const auto below = typed_in ? typed_in->last + 1 : top;
  if (auto found = setup.find(std::span{sight.rows}.subspan(below))) {
    picture.dialog_mark = true;
    permission = std::move(found->permission);
    question = std::move(found->question);
    of_setup = true;
  } else if (permission)
    for (auto& choice : permission->choices)
      choice.says = approve.matches(choice.label) ? profiles::ChoiceMeaning::Allow
                    : deny.matches(choice.label)  ? profiles::ChoiceMeaning::Deny
                                                  : profiles::ChoiceMeaning::Something;
}

ScreenAnalysis CompiledProfile::analyze(const ScreenFrame& sight) const {
  ScreenAnalysis picture;
  picture.composer = parts_->composer.find(sight);
  if (!picture.composer) picture.composer = parts_->screen_reader_composer.find(sight);
  const auto end = picture.composer ? picture.composer->first : sight.rows.size();
  Parts::Spoken spoken{.rows = std::vector<bool>(sight.rows.size()), .said = std::vector<bool>(sight.rows.size())};
  parts_->read_conversation(sight, end, picture.conversation, spoken);
  parts_->read_marks(sight, spoken, picture);
  if (picture.composer)
    picture.start_page = std::ranges::any_of(std::span{sight.rows}.first(end), [this](const ScreenRow& row) {
      return parts_->start_page.matches(row.text);
    });
  return picture;
}

}  // namespace relay::profiles
