/// Reads config.toml: settings by name, in tables or dotted.
#include "base/format.h"
#include "base/nearest.h"
#include "base/toml.h"
#include "config/setting_value.h"
#include "config/settings.h"

namespace relay::config {
namespace {

// Rules are not settings; permissions/policy_file.h reads them.
constexpr std::string_view kPermissions = "permissions";
constexpr std::string_view kPermissionRules = "permissions.rules";

}  // namespace

/// Walks the tables of a configuration and applies the settings.
class FileReader {
 public:
  FileReader(Settings& settings, std::string_view path) : settings_{settings}, path_{path} {}

  Result<void> read(const TomlNode::Table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const auto name = prefix + key;
      if ((name == kPermissions && node.table() == nullptr) || name == kPermissionRules) continue;
      const auto* row = find_row(name);
      if (row != nullptr) {
        RELAY_TRY(set(*row, node));
      } else if (const auto* inner = node.table(); inner != nullptr && is_table_name(name)) {
        RELAY_TRY(read(*inner, name + "."));
      } else {
        return fail(Errc::UnknownSetting, relay::format("{}: unknown setting {}; {}", where(node.key_location),
                                                        printable_name(name), suggestion_for(name)));
      }
    }
    return {};
  }

 private:
  Result<void> set(const SettingRow& row, const TomlNode& node) {
    const auto place = where(node.location);
    std::optional<SettingValue> value;
    if (row.kind == SettingKind::Integer) {
      if (const auto* number = node.integer()) value = *number;
    } else if (row.kind == SettingKind::Flag) {
      if (const auto* flag = node.boolean()) value = *flag;
    } else if (const auto* text = node.string()) {
      value = *text;
    }
    if (!value) return not_allowed(row, "a value of that type", place);
    if (!is_allowed(row, *value)) return not_allowed(row, to_text(*value), place);
    settings_.set(row, *std::move(value), Source::File, relay::format("{}:{}", path_, node.location.line));
    return {};
  }

  static std::string to_text(const SettingValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return "\"" + printable_name(*text) + "\"";
    return relay::format("{}", std::get<std::int64_t>(value));
  }

  static const SettingRow* find_row(std::string_view name) {
    for (const auto& row : setting_table())
      if (row.name == name) return &row;
    return nullptr;
  }

  static bool is_table_name(std::string_view name) {
    for (const auto& row : setting_table())
      if (row.name.size() > name.size() && row.name.starts_with(name) && row.name[name.size()] == '.') return true;
    return false;
  }

  static std::string suggestion_for(std::string_view name) {
    std::vector<std::string_view> known;
    for (const auto& row : setting_table()) {
      known.push_back(row.name);
      if (const auto dot = row.name.find('.'); dot != std::string_view::npos) known.push_back(row.name.substr(0, dot));
    }
    const auto near = nearest_names(name, known, 1);
    return near.empty() ? "known settings: " + known_names() : relay::format("did you mean {}?", near.front());
  }

  static std::string known_names() {
    std::string names;
    for (const auto& row : setting_table()) names += (names.empty() ? "" : ", ") + std::string{row.name};
    return names;
  }

  [[nodiscard]] std::string where(TomlLocation place) const {
    return relay::format("{}:{}:{}", path_, place.line, place.column);
  }

  Settings& settings_;
  std::string_view path_;
};

Result<void> Settings::apply_file(std::string_view text, std::string_view path) {
  const auto parsed = parse_toml(text, path);
  if (!parsed) return fail(Errc::BadSyntax, parsed.error().message());
  // All or nothing: a file with one bad line changes no setting.
  Settings changed = *this;
  FileReader reader{changed, path};
  RELAY_TRY(reader.read(*parsed->table(), ""));
  *this = std::move(changed);
  return {};
}

}  // namespace relay::config
