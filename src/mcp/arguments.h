/// The arguments of a tool call, checked against the tool's own schema.
///
/// Why not only the schema at the client: not every client checks, and a model learns from one clear sentence.
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
  /// Every member is known and of its type, within its bounds; every required one is there.
  static Result<Arguments> check(const Tool& tool, const json::object& given);

  /// Absent is empty, or the default.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;

 private:
  explicit Arguments(json::object given) : given_{std::move(given)} {}
  json::object given_;
};

}  // namespace relay::mcp
