/// The command line of a long test: `--name value` pairs and flags.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace relay::crash {

class Arguments {
 public:
  /// Nothing when an argument is not an option, or an option has no value.
  static std::optional<Arguments> parse(int argc, char** argv, const std::set<std::string>& flags);

  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  /// Empty if absent.
  [[nodiscard]] std::string value(const std::string& name) const;
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t default_value) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace relay::crash
