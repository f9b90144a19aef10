#include "profiles/profile_file.h"

#include <algorithm>
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

/// Keys that older profiles use. They are errors; the message names the new key.
struct RenamedKey {
  std::string_view old_name, new_name;
};
constexpr std::array<RenamedKey, 14> kRenamedKeys = {{{"working", "working_rows"},
                                                      {"asks", "question_rows"},
                                                      {"runs", "tool_rows"},
                                                      {"flat_composer", "screen_reader_composer"},
                                                      {"answers", "dialogs"},
                                                      {"never", "exclude"},
                                                      {"more", "continuation"},
                                                      {"furniture", "decoration"},
                                                      {"line", "line_mode"},
                                                      {"press", "keys"},
                                                      {"allow", "approve"},
                                                      {"begins", "first_row"},
                                                      {"ends", "footer"},
                                                      {"flat", "screen_reader"}}};

/// Reads one profile. Every error message starts with the location.
class ProfileReader {
 public:
  explicit ProfileReader(std::string_view path) : path_{path} {}

  Result<Profile> read(const TomlNode& root) {
    RELAY_TRY(
        read_table(root, {{"name", string(profile_.name)},
                          {"title", string(profile_.title)},
                          {"commands", strings(profile_.commands)},
                          {"tested", strings(profile_.tested)},
                          {"reports_status", boolean(profile_.reports_status)},
                          {"indent", count(profile_.indent, 40)},
                          {"margin", count(profile_.margin, 40)},
                          {"working_rows", regexes(profile_.working_rows)},
                          {"dialog_rows", regexes(profile_.dialog_rows)},
                          {"question_rows", regexes(profile_.question_rows)},
                          {"tool_rows", regexes(profile_.tool_rows)},
                          {"start_page", regexes(profile_.start_page)},
                          {"ready", regexes(profile_.ready)},
                          {"wraps", boolean(profile_.wraps)},
                          {"titles", [this](const TomlNode& node) { return titles(node); }},
                          {"composer", [this](const TomlNode& node) { return composer(node, profile_.composer); }},
                          {"screen_reader_composer",
                           [this](const TomlNode& node) { return composer(node, profile_.screen_reader_composer); }},
                          {"typing", [this](const TomlNode& node) { return typing(node); }},
                          {"dialogs", [this](const TomlNode& node) { return dialogs(node); }},
                          {"instructions", [this](const TomlNode& node) { return instructions(node); }},
                          {"model_option", string(profile_.model_option)},
                          {"setup", each([this](const TomlNode& node) { return setup(node); })},
                          {"row", each([this](const TomlNode& node) { return row(node); })},
                          {"pattern", each([this](const TomlNode& node) { return pattern(node); })}}));
    if (profile_.name.empty()) return fail(format("{}: a profile needs a name", path_));
    if (const auto valid = profiles::PatternDetector::compile(profile_.patterns); !valid)
      return fail(format("{}: {}", path_, valid.error().message()));
    return std::move(profile_);
  }

 private:
  using FieldReader = std::function<Result<void>(const TomlNode&)>;
  using Fields = std::map<std::string_view, FieldReader>;

  Failure bad(TomlLocation location, std::string_view message) const {
    return fail(format("{}:{}:{}: {}", path_, location.line, location.column, message));
  }

  Result<void> read_table(const TomlNode& node, const Fields& fields) const {
    const auto* table = node.table();
    if (table == nullptr) return bad(node.location, "expected a table");
    for (const auto& [key, value] : *table) {
      const auto found = fields.find(key);
      if (found != fields.end()) {
        RELAY_TRY(found->second(value));
        continue;
      }
      const auto renamed = std::ranges::find(kRenamedKeys, key, &RenamedKey::old_name);
      const auto hint = renamed != kRenamedKeys.end() && fields.contains(renamed->new_name)
                            ? std::vector{renamed->new_name}
                            : nearest_field(key, fields);
      return bad(value.key_location, format("unknown key {}{}", printable_name(key),
                                            hint.empty() ? "" : format("; did you mean {}?", hint.front())));
    }
    return {};
  }

  static std::vector<std::string_view> nearest_field(std::string_view key, const Fields& fields) {
    std::vector<std::string_view> names;
    for (const auto& [name, reader] : fields) names.push_back(name);
    return nearest_names(key, names, 1);
  }

  FieldReader string(std::string& into) const {
    return [this, &into](const TomlNode& node) -> Result<void> {
      if (node.string() == nullptr) return bad(node.location, "expected a string");
      into = *node.string();
      return {};
    };
  }

  FieldReader regex(std::string& into) const {
    return [this, &into](const TomlNode& node) -> Result<void> {
      RELAY_TRY(string(into)(node));
      if (const auto valid = Regex::compile(into); !valid) return bad(node.location, valid.error().message());
      return {};
    };
  }

  FieldReader boolean(bool& into) const {
    return [this, &into](const TomlNode& node) -> Result<void> {
      if (node.boolean() == nullptr) return bad(node.location, "expected true or false");
      into = *node.boolean();
      return {};
    };
  }

  template <class Number>
  FieldReader count(Number& into, std::int64_t max) const {
    return [this, &into, max](const TomlNode& node) -> Result<void> {
      if (node.integer() == nullptr || *node.integer() < 0 || *node.integer() > max)
        return bad(node.location, format("expected a number from 0 to {}", max));
      into = Number(*node.integer());
      return {};
    };
  }

  FieldReader each(FieldReader read) const {
    return [this, read = std::move(read)](const TomlNode& node) -> Result<void> {
      if (node.array() == nullptr) return bad(node.location, "expected an array");
      if (node.array()->size() > kMaxEntries) return bad(node.location, format("at most {} entries", kMaxEntries));
      for (const auto& item : *node.array()) RELAY_TRY(read(item));
      return {};
    };
  }

  FieldReader list(std::vector<std::string>& into, FieldReader (ProfileReader::*read_one)(std::string&) const) const {
    return each([this, &into, read_one](const TomlNode& node) { return (this->*read_one)(into.emplace_back())(node); });
  }
  FieldReader strings(std::vector<std::string>& into) const { return list(into, &ProfileReader::string); }
  FieldReader regexes(std::vector<std::string>& into) const { return list(into, &ProfileReader::regex); }

  template <class Value, std::size_t N>
  FieldReader choice(Value& into, const std::array<std::pair<std::string_view, Value>, N>& names) const {
    return [this, &into, &names](const TomlNode& node) -> Result<void> {
      std::string all;
      for (const auto& [name, value] : names) {
        if (node.string() != nullptr && *node.string() == name) {
          into = value;
          return {};
        }
        all += format("{}{}", all.empty() ? "" : ", ", name);
      }
      return bad(node.location, format("expected one of {}", all));
    };
  }

  Result<void> titles(const TomlNode& node) {
    auto& titles = profile_.titles;
    return read_table(
        node, {{"idle", regex(titles.idle)}, {"working", regex(titles.working)}, {"blocked", regex(titles.blocked)}});
  }

  Result<void> composer(const TomlNode& node, ComposerRule& composer) {
    return read_table(node, {{"first", regex(composer.first)},
                             {"exclude", regex(composer.exclude)},
                             {"continuation", regex(composer.continuation)},
                             {"above", regex(composer.above)},
                             {"below", regex(composer.below)},
                             {"placeholder", regex(composer.placeholder)},
                             {"decoration", regex(composer.decoration)},
                             {"dim_is_placeholder", boolean(composer.dim_is_placeholder)},
                             {"line_mode", boolean(composer.line_mode)}});
  }

  Result<void> typing(const TomlNode& node) {
    auto& typing = profile_.typing;
    return read_table(node, {{"submit_gap_ms", count(typing.submit_gap, kMaxGapMs)},
                             {"interrupt", string(typing.interrupt)},
                             {"max_paste_bytes", count(typing.max_paste_bytes, 1 << 20)}});
  }

  Result<void> dialogs(const TomlNode& node) {
    static constexpr std::array<std::pair<std::string_view, DialogKeys>, 3> kKeys = {
        {{"none", DialogKeys::None}, {"cursor", DialogKeys::Cursor}, {"letter", DialogKeys::Letter}}};
    auto& dialogs = profile_.dialogs;
    return read_table(node, {{"keys", choice(dialogs.keys, kKeys)},
                             {"approve", regex(dialogs.approve)},
                             {"deny", regex(dialogs.deny)},
                             {"first_row", regex(dialogs.first_row)},
                             {"footer", regex(dialogs.footer)}});
  }

  Result<void> instructions(const TomlNode& node) {
    auto& rules = profile_.instructions;
    return read_table(node, {{"arguments", strings(rules.arguments)},
                             {"environment", [this, &rules](const TomlNode& variables) -> Result<void> {
                                if (variables.table() == nullptr) return bad(variables.location, "expected a table");
                                for (const auto& [name, value] : *variables.table())
                                  RELAY_TRY(string(rules.environment.emplace_back(name, "").second)(value));
                                return {};
                              }}});
  }

  Result<void> row(const TomlNode& node) {
    static constexpr std::array<std::pair<std::string_view, RowKind>, 4> kKinds = {{{"assistant", RowKind::Assistant},
                                                                                    {"user", RowKind::User},
                                                                                    {"tool", RowKind::Tool},
                                                                                    {"chrome", RowKind::Chrome}}};
    static constexpr std::array<std::pair<std::string_view, CharacterStyle>, 4> kStyles = {
        {{"any", CharacterStyle::Any},
         {"bold", CharacterStyle::Bold},
         {"dim", CharacterStyle::Dim},
         {"plain", CharacterStyle::Plain}}};
    auto& row = profile_.rows.emplace_back();
    RELAY_TRY(read_table(
        node, {{"kind", choice(row.kind, kKinds)},
               {"pattern", regex(row.pattern)},
               {"screen_reader", boolean(row.screen_reader)},
               {"joins", each([&](const TomlNode& kind) { return choice(row.joins.emplace_back(), kKinds)(kind); })},
               {"above", regex(row.above)},
               {"until", regex(row.until)},
               {"look", choice(row.style, kStyles)}}));
    return row.pattern.empty() ? Result<void>{bad(node.location, "a row needs a pattern")} : Result<void>{};
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
    return read_table(
        node,
        {{"name", string(pattern.name)}, {"role", choice(pattern.role, kRoles)}, {"regex", regex(pattern.regex)}});
  }

  Result<void> setup(const TomlNode& node) {
    static constexpr std::array<std::pair<std::string_view, SetupKind>, 2> kKinds = {
        {{"question", SetupKind::Question}, {"permission", SetupKind::Permission}}};
    auto& rule = profile_.setup.emplace_back();
    const auto option = [&](const TomlNode& each) -> Result<void> {
      auto& into = rule.options.emplace_back();
      RELAY_TRY(read_table(each, {{"label", string(into.label)}, {"key", string(into.key)}}));
      if (!terminal::parse_key(into.key)) return bad(each.location, "expected the name of a key");
      return {};
    };
    RELAY_TRY(read_table(node, {{"name", string(rule.name)},
                                {"kind", choice(rule.kind, kKinds)},
                                {"text", string(rule.text)},
                                {"first", regex(rule.first)},
                                {"choice", regex(rule.choice)},
                                {"mark", regex(rule.mark)},
                                {"below", regex(rule.below)},
                                {"approve", regex(rule.approve)},
                                {"deny", regex(rule.deny)},
                                {"options", each(option)}}));
    if (rule.name.empty() || rule.first.empty())
      return bad(node.location, "a setup dialog needs a name and a first row");
    if (!rule.options.empty() && (rule.below.empty() || !rule.choice.empty()))
      return bad(node.location, "options need the rows below them, and no choices besides");
    return {};
  }

  std::string_view path_;
  Profile profile_;
};

}  // namespace

Result<Profile> read_profile(std::string_view toml, std::string_view path) {
  const auto root = RELAY_TRY(parse_toml(toml, path));
  return ProfileReader{path}.read(root);
}

}  // namespace relay::profiles
