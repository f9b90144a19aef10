#include "profiles/compiled_profile.h"

#include <algorithm>
#include <span>

#include "profiles/default_patterns.h"
#include "profiles/regex.h"
#include "profiles/setup_dialog.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kEndless = 1'000'000;  // columns: every break is intended
constexpr std::size_t kLowerRows = 40;       // searched for marks of work and dialogs, blank rows not counted

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
  struct TextRows {
    std::vector<bool> rows;          // have text, and so no marks: any text may contain "esc to interrupt"
    std::vector<bool> conversation;  // of these, text of the agent and the user, not of tools
    std::size_t last_user_row = 0;   // the user's last input
  };
  struct Rule {
    RowKind kind;
    CharacterStyle style;
    bool screen_reader;
    std::vector<RowKind> joins;
    Regex above, until;

    /// The other conditions, for a row whose text matches.
    [[nodiscard]] bool fits(const ScreenFrame& frame, std::size_t row) const {
      return (style == CharacterStyle::Any || style == frame.rows[row].style) &&
             (!above.given() || find_above(above, frame, row) != Above::No);
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

  [[nodiscard]] std::size_t width_of_text(const ScreenFrame& frame, std::size_t row, bool whole) const {
    if (!profile.wraps && !frame.rows[row].soft) return kEndless;
    const auto columns = static_cast<std::size_t>(frame.columns);
    const std::size_t taken = whole ? 0 : profile.indent + profile.margin;
    return columns > taken ? columns - taken : 1;
  }
  [[nodiscard]] const Rule* rule_for(const ScreenFrame& frame, std::size_t row) const {
    for (const int index : row_patterns.which(frame.rows[row].text))
      if (const auto& each = rules[static_cast<std::size_t>(index)]; each.fits(frame, row)) return &each;
    return nullptr;
  }
  void read_conversation(const ScreenFrame& frame, std::size_t end, std::vector<Paragraph>& out,
                         TextRows& text_rows) const;
  void read_marks(const ScreenFrame& frame, const TextRows& text_rows, ScreenAnalysis& analysis) const;

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
    parts->rules.push_back({row.kind, row.style, row.screen_reader, row.joins, RELAY_TRY(Regex::compile(row.above)),
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

bool CompiledProfile::is_ready(const ScreenFrame& frame) const {
  return parts_->profile.ready.empty() ||
         std::ranges::any_of(frame.rows, [this](const ScreenRow& row) { return parts_->ready.matches(row.text); });
}

CompiledProfile::TitleState CompiledProfile::title_state(const std::string& title) const {
  if (parts_->blocked_title.matches(title)) return TitleState::Blocked;
  if (parts_->working_title.matches(title)) return TitleState::Working;
  if (parts_->idle_title.matches(title)) return TitleState::Idle;
  return TitleState::Nothing;
}

/// Determines the kind of each row, from the top; an unknown row is Chrome.
void CompiledProfile::Parts::read_conversation(const ScreenFrame& frame, std::size_t end, std::vector<Paragraph>& out,
                                               TextRows& text_rows) const {
  RowKind kind = RowKind::Chrome;
  bool open = false;             // the last paragraph may continue
  bool screen_reader = false;    // the mark is a word, rows are not indented
  const Rule* holder = nullptr;  // the rule that owns these rows up to its `until`
  for (std::size_t i = 0; i < end; ++i) {
    const auto& seen = frame.rows[i];
    const bool soft = i > 0 && frame.rows[i - 1].soft && (open || kind == RowKind::Chrome || holder != nullptr);
    const auto* rule = soft || seen.blank() ? nullptr : rule_for(frame, i);
    if (holder != nullptr) {
      const bool is_user_input = rule != nullptr && rule->kind == RowKind::User && rule->above.given();
      text_rows.rows[i] = !is_user_input;
      text_rows.conversation[i] = !is_user_input && holder->kind != RowKind::Tool;
      if (soft || (!is_user_input && !holder->until.matches(seen.text))) continue;
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
      kind = RowKind::Chrome;  // unknown: not the agent's text
      open = false;
    }
    if (kind == RowKind::Chrome) continue;
    text_rows.rows[i] = true;
    text_rows.conversation[i] = kind == RowKind::Assistant || kind == RowKind::User;
    if (kind == RowKind::User) text_rows.last_user_row = i;
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
                               .width = width_of_text(frame, i, soft || screen_reader),
                               .soft = seen.soft});
  }
}

/// A dialog is certain only if it is the lowest thing on the screen: the agent's text can look like one.
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
  if (auto& dialog = findings.permission) dialog->is_complete = dialog->is_complete && is_lowest(dialog->last);
  if (auto& dialog = findings.question) dialog->is_complete = dialog->is_complete && is_lowest(dialog->last);
  return findings;
}

void CompiledProfile::Parts::read_marks(const ScreenFrame& frame, const TextRows& text_rows,
                                        ScreenAnalysis& analysis) const {
  const auto& drawn_composer = analysis.composer;
  const bool line = profile.composer.line_mode;
  // The output of a line-mode program stays visible: only rows of this turn show its current state.
  const auto top = line ? std::max(frame.screen_top, text_rows.last_user_row) : frame.screen_top;
  const std::vector<bool> none(frame.rows.size());
  const auto lower = [&](std::size_t from, const std::vector<bool>& without) {
    Lower found;
    for (std::size_t row = frame.rows.size(); row-- > from;) {
      if (drawn_composer && row >= drawn_composer->first && row <= drawn_composer->last) continue;
      if (without[row] || frame.rows[row].blank()) continue;
      if (found.rows.size() == kLowerRows) {
        found.cut = true;
        break;
      }
      found.rows.push_back(frame.rows[row].text);
    }
    std::ranges::reverse(found.rows);
    return found;
  };
  const auto any = [](const RegexSet& patterns, std::span<const std::string> rows) {
    return std::ranges::any_of(rows, [&](const std::string& row) { return patterns.matches(row); });
  };
  const auto all = lower(top, none);
  analysis.findings = find_in(all);
  analysis.working_mark = any(working_rows, lower(top, text_rows.rows).rows);
  // The drawn composer may be an old message that looks like one: a dialog below it counts too.
  const auto dialog_area = drawn_composer ? lower(drawn_composer->last + 1, none) : all;
  analysis.dialog_mark = any(dialog_rows, dialog_area.rows);
  analysis.dialog_mark_in_text =
      analysis.dialog_mark && !drawn_composer && !line && !any(dialog_rows, lower(top, text_rows.conversation).rows);
  if (!drawn_composer && line) {
    analysis.dialog_mark = analysis.dialog_mark || any(question_rows, std::span{&frame.rows[frame.cursor_row].text, 1});
    analysis.working_mark =
        analysis.working_mark || (!all.rows.empty() && any(tool_rows, std::span{&all.rows.back(), 1}));
  }
  if (drawn_composer || (line && !analysis.dialog_mark)) {
    auto below = drawn_composer ? find_in(dialog_area) : profiles::ScreenFindings{};
    analysis.findings.permission = std::move(below.permission);
    analysis.findings.question = std::move(below.question);
  }
  // Answered questions stay visible: the lower one is open.
  auto& [permission, question, usage, limits, of_setup] = analysis.findings;
  if (line && permission && question) {
    if (permission->row < question->row)
      permission.reset();
    else
      question.reset();
  }
  const auto below = drawn_composer ? drawn_composer->last + 1 : top;
  if (auto found = setup.find(std::span{frame.rows}.subspan(below))) {
    analysis.dialog_mark = true;
    permission = std::move(found->permission);
    question = std::move(found->question);
    of_setup = true;
  } else if (permission)
    for (auto& choice : permission->choices)
      choice.meaning = approve.matches(choice.label) ? profiles::ChoiceMeaning::Approve
                       : deny.matches(choice.label)  ? profiles::ChoiceMeaning::Deny
                                                     : profiles::ChoiceMeaning::Other;
}

ScreenAnalysis CompiledProfile::analyze(const ScreenFrame& frame) const {
  ScreenAnalysis analysis;
  analysis.composer = parts_->composer.find(frame);
  if (!analysis.composer) analysis.composer = parts_->screen_reader_composer.find(frame);
  const auto end = analysis.composer ? analysis.composer->first : frame.rows.size();
  Parts::TextRows text_rows{.rows = std::vector<bool>(frame.rows.size()),
                            .conversation = std::vector<bool>(frame.rows.size())};
  parts_->read_conversation(frame, end, analysis.conversation, text_rows);
  parts_->read_marks(frame, text_rows, analysis);
  if (analysis.composer)
    analysis.start_page = std::ranges::any_of(std::span{frame.rows}.first(end), [this](const ScreenRow& row) {
      return parts_->start_page.matches(row.text);
    });
  return analysis;
}

}  // namespace relay::profiles
