#include "permissions/policy_file.h"

#include "base/format.h"
#include "base/nearest.h"
#include "base/toml.h"

namespace relay::permissions {
namespace {

constexpr std::string_view kTable = "permissions";
constexpr std::string_view kPreset = "preset";
constexpr std::string_view kRules = "rules";
constexpr std::size_t kMaxPatterns = 100;        // of one kind in a rule
constexpr std::size_t kMaxPatternBytes = 1'024;  // of one
constexpr std::int64_t kMaxTimeoutSeconds = 7 * 24 * 3'600;

class RuleReader {
 public:
  explicit RuleReader(std::string_view path) : path_{path} {}

  /// A table with a preset and rules, or a list of rules.
  Result<Policy> policy(const TomlNode& node) const {
    const auto* table = node.table();
    if (table == nullptr && node.array() == nullptr)
      return error_at(node.key_location, "permissions must be a table: write [permissions] and [[permissions.rules]]");
    if (table == nullptr) return Policy{RELAY_TRY(rules(node))};
    std::string preset{kNoPreset};
    std::vector<Rule> own;
    for (const auto& [key, value] : *table) {
      if (key == kPreset) {
        const auto* name = value.string();
        if (name == nullptr || preset_rules(*name) == nullptr)
          return error_at(value.location, format("preset must be one of {}, {}", kNoPreset, kReadOnlyPreset));
        preset = *name;
      } else if (key == kRules) {
        own = RELAY_TRY(rules(value));
      } else {
        return error_at(value.key_location,
                        format("permissions have no {}; valid keys: {}, {}", printable_name(key), kPreset, kRules));
      }
    }
    return Policy{std::move(own), preset};
  }

 private:
  Result<std::vector<Rule>> rules(const TomlNode& node) const {
    const auto* list = node.array();
    if (list == nullptr) return error_at(node.key_location, "rules must be a list: write [[permissions.rules]]");
    if (list->size() > kMaxRules) return error_at(node.key_location, format("at most {} rules are allowed", kMaxRules));
    std::vector<Rule> all;
    for (const auto& each : *list) all.push_back(RELAY_TRY(read(each)));
    return all;
  }

  Result<Rule> read(const TomlNode& node) const {
    const auto* table = node.table();
    if (table == nullptr) return error_at(node.location, "a rule is a table: write [[permissions.rules]]");
    RuleSpec spec{.label = format("{}:{}", path_, node.location.line)};
    bool decided = false;
    for (const auto& [key, value] : *table) {
      if (key == "action") {
        spec.action = RELAY_TRY(choice<Action>(key, value));
        decided = true;
      } else if (key == "risk") {
        spec.risk = RELAY_TRY(choice<RiskLevel>(key, value));
      } else if (key == "timeout") {
        spec.timeout = RELAY_TRY(seconds(value));
      } else if (auto* list = read_list(key, spec)) {
        *list = RELAY_TRY(strings(key, value));
      } else {
        return error_at(value.key_location, format("a rule has no {}; {}", printable_name(key), advice_about(key)));
      }
    }
    if (!decided) return error_at(node.location, "the rule has no action: approve, deny or ask");
    auto rule = Rule::compile(std::move(spec));
    if (!rule) return error_at(node.location, rule.error().message());
    return rule;
  }

  Failure error_at(TomlLocation location, std::string_view message) const {
    return fail(format("{}:{}:{}: {}", path_, location.line, location.column, message));
  }

  static std::vector<std::string>* read_list(std::string_view key, RuleSpec& spec) {
    if (key == "tool") return &spec.tools;
    if (key == "command") return &spec.commands;
    if (key == "path") return &spec.paths;
    if (key == "agents") return &spec.agents;
    return nullptr;
  }

  static std::string advice_about(std::string_view key) {
    const auto near = nearest_names(key, {"tool", "command", "path", "agents", "action", "risk", "timeout"}, 1);
    return near.empty() ? "valid keys: tool, command, path, agents, action, risk, timeout"
                        : format("did you mean {}?", near.front());
  }

  template <class Choice>
  Result<Choice> choice(std::string_view key, const TomlNode& node) const {
    const auto* name = node.string();
    if (const auto chosen = name == nullptr ? std::nullopt : schema::parse_choice<Choice>(*name)) return *chosen;
    std::string names;
    for (const auto& each : schema::kChoices<Choice>) names += format("{}{}", names.empty() ? "" : ", ", each.name);
    return error_at(node.location, format("{} must be one of {}", key, names));
  }

  Result<std::chrono::seconds> seconds(const TomlNode& node) const {
    const auto* number = node.integer();
    if (number == nullptr || *number < 1 || *number > kMaxTimeoutSeconds)
      return error_at(node.location, format("timeout must be a number of seconds from 1 to {}", kMaxTimeoutSeconds));
    return std::chrono::seconds{*number};
  }

  /// One string, or a list of them.
  Result<std::vector<std::string>> strings(std::string_view key, const TomlNode& node) const {
    std::vector<std::string> all;
    if (const auto* one = node.string()) {
      all.push_back(*one);
    } else if (const auto* list = node.array()) {
      for (const auto& item : *list) {
        if (item.string() == nullptr) return error_at(item.location, format("{} must be a list of strings", key));
        all.push_back(*item.string());
      }
    }
    if (all.empty()) return error_at(node.location, format("{} must be a string or a list of at least one", key));
    if (all.size() > kMaxPatterns)
      return error_at(node.location, format("{} can have {} entries at most", key, kMaxPatterns));
    for (const auto& each : all)
      if (each.empty() || each.size() > kMaxPatternBytes)
        return error_at(node.location, format("an entry of {} must have 1 to {} bytes", key, kMaxPatternBytes));
    return all;
  }

  std::string_view path_;
};

}  // namespace

Result<Policy> parse_policy(std::string_view toml, std::string_view path) {
  const auto parsed = RELAY_TRY(parse_toml(toml, path));
  const RuleReader reader{path};
  for (const auto& [key, node] : *parsed.table())
    if (key == kTable) return reader.policy(node);
  return Policy{};
}

}  // namespace relay::permissions
