/// The arguments of a tool call, checked against the schema of the tool.
///
/// Why checked here: not every client validates, and a model corrects itself after one clear error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "mcp/tools.h"

namespace relay::mcp {

class Arguments {
 public:
  /// Every member is declared and of its type, within its bounds; every required member is present.
  static Result<Arguments> check(const Tool& tool, const json::object& given);

  /// Absent: empty, or the default.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t default_value) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;

 private:
  explicit Arguments(json::object given) : given_{std::move(given)} {}
  json::object given_;
};

}  // namespace relay::mcp
