/// The arguments and options of a command, checked against its row of the table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace relay::cli {

class Invocation {
 public:
  [[nodiscard]] bool has(std::string_view option) const { return options_.contains(option); }
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  /// All values of an option that may be given several times, in order.
  [[nodiscard]] std::vector<std::string> values(std::string_view option) const;
  /// By position; empty when absent.
  [[nodiscard]] std::string argument(std::size_t index) const;
  /// That argument and all after it, joined by single spaces.
  [[nodiscard]] std::string rest(std::size_t index) const;

  /// A whole number in [min, max]; `fallback` when the option is absent. The error is a usage error.
  [[nodiscard]] Result<std::int64_t> number(std::string_view option, std::int64_t min, std::int64_t max,
                                            std::int64_t fallback) const;
  /// `30s`, `15m`, `2h`, `7d`, `250ms`, or plain seconds.
  [[nodiscard]] Result<Millis> duration(std::string_view option, Millis fallback) const;

  void set(std::string_view option, std::string value) { set(option, std::vector{std::move(value)}); }
  void set(std::string_view option, std::vector<std::string> values) {
    options_.insert_or_assign(std::string{option}, std::move(values));
  }
  [[nodiscard]] std::size_t argument_count() const { return arguments_.size(); }
  void add_argument(std::string value) { arguments_.push_back(std::move(value)); }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> options_;  // never an empty list
  std::vector<std::string> arguments_;
};

Result<Millis> parse_duration(std::string_view text);

}  // namespace relay::cli
