/// TOML as a tree of plain values, each with its location in the file. Hides the library behind it.
///
/// Invariants: any bytes give a tree or one message with line and column; a tree holds no more than its text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace relay {

struct TomlLocation {
  std::uint32_t line = 0;  // from 1
  std::uint32_t column = 0;
};

struct TomlMember;

class TomlNode {
 public:
  using Array = std::vector<TomlNode>;
  using Table = std::vector<TomlMember>;  // in the order of the file
  struct Other {};                        // dates and times
  using Value = std::variant<Other, std::string, std::int64_t, double, bool, Array, Table>;

  Value value;
  TomlLocation location;      // of the value
  TomlLocation key_location;  // of its key, in a table

  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&value); }
  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value); }
  [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&value); }
  [[nodiscard]] const Array* array() const { return std::get_if<Array>(&value); }
  [[nodiscard]] const Table* table() const { return std::get_if<Table>(&value); }
};

struct TomlMember {
  std::string key;
  TomlNode value;
};

/// A table. The error starts with `path:line:column`.
Result<TomlNode> parse_toml(std::string_view text, std::string_view path);

/// A name from a file for display: short, and without control characters.
std::string printable_name(std::string_view text);

}  // namespace relay
