#include "profiles/profile_file.h"

#include <array>
#include <functional>
#include <map>

#include "base/format.h"
#include "base/nearest.h"
#include "base/toml.h"
#include "profiles/regex.h"
#include "terminal/keys.h"

namespace relay::profiles {
namespace {

constexpr std::size_t kMaxEntries = 256;  // of any list
constexpr std::int64_t kMaxGapMs = 10'000;

/// Reads one profile; every complaint begins with the place.
class Reader {
 public:
  explicit Reader(std::string_view path) : path_{path} {}

  Result<Profile> read(const TomlNode& root) {
    RELAY_TRY(members(
        root, {{"name", text(profile_.name)},
               {"title", text(profile_.title)},
               {"commands", texts(profile_.commands)},
               {"tested", texts(profile_.tested)},
               {"reports_status", flag(profile_.reports_status)},
               {"indent", count(profile_.indent, 40)},
               {"margin", count(profile_.margin, 40)},
               {"working", regexes(profile_.working)},
               {"dialogs", regexes(profile_.dialogs)},
               {"asks", regexes(profile_.asks)},
               {"runs", regexes(profile_.runs)},
               {"start_page", regexes(profile_.start_page)},
               {"ready", regexes(profile_.ready)},
               {"wraps", flag(profile_.wraps)},
               {"titles", [this](const TomlNode& node) { return titles(node); }},
               {"composer", [this](const TomlNode& node) { return composer(node, profile_.composer); }},
               {"flat_composer", [this](const TomlNode& node) { return composer(node, profile_.flat_composer); }},
               {"typing", [this](const TomlNode& node) { return typing(node); }},
               {"answers", [this](const TomlNode& node) { return answers(node); }},
               {"instructions", [this](const TomlNode& node) { return instructions(node); }},
               {"model_option", text(profile_.model_option)},
               {"setup", each([this](const TomlNode& node) { return setup(node); })},
               {"row", each([this](const TomlNode& node) { return row(node); })},
               {"pattern", each([this](const TomlNode& node) { return pattern(node); })}}));
    if (profile_.name.empty()) return fail(format("{}: a profile needs a name", path_));
    if (const auto fine = profiles::PatternDetector::compile(profile_.patterns); !fine)
      return fail(format("{}: {}", path_, fine.error().message()));
    return std::move(profile_);
  }

 private:
  using Take = std::function<Result<void>(const TomlNode&)>;
  using Known = std::map<std::string_view, Take>;

  Failure bad(TomlLocation place, std::string_view what) const {
    return fail(format("{}:{}:{}: {}", path_, place.line, place.column, what));
  }

  Result<void> members(const TomlNode& node, const Known& known) const {
    const auto* table = node.table();
    if (table == nullptr) return bad(node.place, "a table is wanted here");
    for (const auto& [key, value] : *table) {
      const auto found = known.find(key);
      if (found != known.end()) {
        RELAY_TRY(found->second(value));
        continue;
      }
      std::vector<std::string_view> names;
      for (const auto& [name, take] : known) names.push_back(name);
      const auto near = nearest_names(key, names, 1);
      return bad(value.key_place, format("there is no {}{}", printable_name(key),
                                         near.empty() ? "" : format("; did you mean {}?", near.front())));
    }
    return {};
  }

  Take text(std::string& into) const {
    return [this, &into](const TomlNode& node) -> Result<void> {
      if (node.text() == nullptr) return bad(node.place, "text is wanted here");
      into = *node.text();
      return {};
    };
  }

  Take regex(std::string& into) const {
    return [this, &into](const TomlNode& node) -> Result<void> {
      RELAY_TRY(text(into)(node));
      if (const auto fine = Regex::compile(into); !fine) return bad(node.place, fine.error().message());
      return {};
    };
  }

  Take flag(bool& into) const {
    return [this, &into](const TomlNode& node) -> Result<void> {
      if (node.flag() == nullptr) return bad(node.place, "true or false is wanted here");
      into = *node.flag();
      return {};
    };
  }

  template <class Number>
  Take count(Number& into, std::int64_t most) const {
    return [this, &into, most](const TomlNode& node) -> Result<void> {
      if (node.integer() == nullptr || *node.integer() < 0 || *node.integer() > most)
        return bad(node.place, format("a number from 0 to {} is wanted here", most));
      into = Number(*node.integer());
      return {};
    };
  }

  Take each(Take take) const {
    return [this, take = std::move(take)](const TomlNode& node) -> Result<void> {
      if (node.array() == nullptr) return bad(node.place, "a list is wanted here");
      if (node.array()->size() > kMaxEntries) return bad(node.place, format("at most {} entries", kMaxEntries));
      for (const auto& item : *node.array()) RELAY_TRY(take(item));
      return {};
    };
  }

  Take list(std::vector<std::string>& into, Take (Reader::*one)(std::string&) const) const {
    return each([this, &into, one](const TomlNode& node) { return (this->*one)(into.emplace_back())(node); });
  }
  Take texts(std::vector<std::string>& into) const { return list(into, &Reader::text); }
  Take regexes(std::vector<std::string>& into) const { return list(into, &Reader::regex); }

  template <class Value, std::size_t N>
  Take choice(Value& into, const std::array<std::pair<std::string_view, Value>, N>& names) const {
    return [this, &into, &names](const TomlNode& node) -> Result<void> {
      std::string all;
      for (const auto& [name, value] : names) {
        if (node.text() != nullptr && *node.text() == name) {
          into = value;
          return {};
        }
        all += format("{}{}", all.empty() ? "" : ", ", name);
      }
      return bad(node.place, format("one of {} is wanted here", all));
    };
  }

  Result<void> titles(const TomlNode& node) {
    auto& titles = profile_.titles;
    return members(
        node, {{"idle", regex(titles.idle)}, {"working", regex(titles.working)}, {"blocked", regex(titles.blocked)}});
  }

  Result<void> composer(const TomlNode& node, ComposerRule& composer) {
    return members(node, {{"first", regex(composer.first)},
                          {"never", regex(composer.never)},
                          {"more", regex(composer.more)},
                          {"above", regex(composer.above)},
                          {"below", regex(composer.below)},
                          {"placeholder", regex(composer.placeholder)},
                          {"furniture", regex(composer.furniture)},
                          {"dim_is_placeholder", flag(composer.dim_is_placeholder)},
                          {"line", flag(composer.line)}});
  }

  Result<void> typing(const TomlNode& node) {
    auto& typing = profile_.typing;
    return members(node, {{"submit_gap_ms", count(typing.submit_gap, kMaxGapMs)},
                          {"interrupt", text(typing.interrupt)},
                          {"max_paste_bytes", count(typing.max_paste_bytes, 1 << 20)}});
  }

  Result<void> answers(const TomlNode& node) {
    static constexpr std::array<std::pair<std::string_view, DialogKeys>, 3> kPresses = {
        {{"nothing", DialogKeys::Nothing}, {"mark", DialogKeys::Mark}, {"letter", DialogKeys::Letter}}};
    auto& answers = profile_.answers;
    return members(node, {{"press", choice(answers.press, kPresses)},
                          {"allow", regex(answers.allow)},
                          {"deny", regex(answers.deny)},
                          {"begins", regex(answers.begins)},
                          {"ends", regex(answers.ends)}});
  }

  Result<void> instructions(const TomlNode& node) {
    auto& rules = profile_.instructions;
    return members(node, {{"arguments", texts(rules.arguments)},
                          {"environment", [this, &rules](const TomlNode& variables) -> Result<void> {
                             if (variables.table() == nullptr) return bad(variables.place, "a table is wanted here");
                             for (const auto& [name, value] : *variables.table())
                               RELAY_TRY(text(rules.environment.emplace_back(name, "").second)(value));
                             return {};
                           }}});
  }

  Result<void> row(const TomlNode& node) {
    static constexpr std::array<std::pair<std::string_view, RowKind>, 4> kKinds = {
        {{"say", RowKind::Assistant}, {"user", RowKind::User}, {"tool", RowKind::Tool}, {"chrome", RowKind::Chrome}}};
    static constexpr std::array<std::pair<std::string_view, CharacterStyle>, 4> kLooks = {
        {{"any", CharacterStyle::Any},
         {"bold", CharacterStyle::Bold},
         {"dim", CharacterStyle::Dim},
         {"plain", CharacterStyle::Plain}}};
    auto& row = profile_.rows.emplace_back();
    RELAY_TRY(members(
        node, {{"kind", choice(row.kind, kKinds)},
               {"pattern", regex(row.pattern)},
               {"flat", flag(row.flat)},
               {"joins", each([&](const TomlNode& kind) { return choice(row.joins.emplace_back(), kKinds)(kind); })},
               {"above", regex(row.above)},
               {"until", regex(row.until)},
               {"look", choice(row.look, kLooks)}}));
    return row.pattern.empty() ? Result<void>{bad(node.place, "a row needs a pattern")} : Result<void>{};
  }

  Result<void> pattern(const TomlNode& node) {
    using profiles::Role;
    static constexpr std::array<std::pair<std::string_view, Role>, 7> kRoles = {
        {{"permission", Role::PermissionHead},
         {"permission-tool", Role::PermissionTool},
         {"permission-command", Role::PermissionCommand},
         {"question", Role::QuestionHead},
         {"choice", Role::Choice},
         {"usage", Role::Usage},
         {"limit", Role::Limit}}};
    auto& pattern = profile_.patterns.emplace_back();
    return members(
        node, {{"name", text(pattern.name)}, {"role", choice(pattern.role, kRoles)}, {"regex", regex(pattern.regex)}});
  }

  Result<void> setup(const TomlNode& node) {
    static constexpr std::array<std::pair<std::string_view, SetupKind>, 2> kKinds = {
        {{"question", SetupKind::Question}, {"permission", SetupKind::Permission}}};
    auto& rule = profile_.setup.emplace_back();
    const auto option = [&](const TomlNode& each) -> Result<void> {
      auto& into = rule.options.emplace_back();
      RELAY_TRY(members(each, {{"label", text(into.label)}, {"key", text(into.key)}}));
      if (!terminal::parse_key(into.key)) return bad(each.place, "the name of a key is wanted here");
      return {};
    };
    RELAY_TRY(members(node, {{"name", text(rule.name)},
                             {"kind", choice(rule.kind, kKinds)},
                             {"text", text(rule.text)},
                             {"first", regex(rule.first)},
                             {"choice", regex(rule.choice)},
                             {"mark", regex(rule.mark)},
                             {"below", regex(rule.below)},
                             {"approve", regex(rule.approve)},
                             {"deny", regex(rule.deny)},
                             {"options", each(option)}}));
    if (rule.name.empty() || rule.first.empty()) return bad(node.place, "a setup dialog needs a name and a first row");
    if (!rule.options.empty() && (rule.below.empty() || !rule.choice.empty()))
      return bad(node.place, "options need the rows below them, and no choices besides");
    return {};
  }

  std::string_view path_;
  Profile profile_;
};

}  // namespace

std::string_view name_of(RowKind kind) {
  switch (kind) {
    case RowKind::Assistant: return "say";
    case RowKind::User: return "user";
    case RowKind::Tool: return "tool";
    case RowKind::Chrome: return "chrome";
  }
  return "";
}

Result<Profile> read_profile(std::string_view toml, std::string_view path) {
  const auto root = RELAY_TRY(parse_toml(toml, path));
  return Reader{path}.read(root);
}

}  // namespace relay::profiles
