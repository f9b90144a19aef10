/// The tables of schema.h without templates: members, types, and the operations on them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace relay::schema {

class Components;

/// Limits: of a string its bytes, of a number its value, of a list its length.
struct Bounds {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// The limits where a member sets none.
inline constexpr std::int64_t kMaxTextBytes = 1 << 20;
inline constexpr std::int64_t kMaxItems = 10'000;  // of a list or a map

/// The location of a value, for error messages: `options[2].name`.
using Path = std::string;

/// The JSON form of one C++ type.
class Type {
 public:
  virtual ~Type() = default;
  virtual Result<void> read(const json::value& from, void* into, const Bounds& bounds, const Path& path) const = 0;
  [[nodiscard]] virtual json::value write(const void* value) const = 0;
  virtual json::object json_schema(const Bounds& bounds, Components& components) const = 0;
  /// The name of the type in a reference table.
  [[nodiscard]] virtual std::string type_name() const = 0;
  [[nodiscard]] virtual bool may_be_absent() const { return false; }
  /// An absent value is not written.
  virtual bool is_absent(const void* /*value*/) const { return false; }
};

struct Member {
  std::string_view name;
  std::string_view description;
  Bounds bounds;
  const Type& (*type)();
  void* (*in)(void* whole);  // the address of the member in a struct
};

/// The table of one struct, without the struct's type.
struct Object {
  std::string_view name;
  std::string_view description;
  std::span<const Member> members;
};

/// Members that the table does not name.
enum class UnknownMembers : std::uint8_t { Ignore, Reject };

json::object write(const Object& object, const void* value);
Result<void> read(const Object& object, const json::object& from, void* into, UnknownMembers unknown,
                  const Path& path = {});
/// The JSON Schema of the object itself; nested objects become components.
json::object json_schema(const Object& object, Components& components);
/// A table in Markdown: member, type, meaning. A question mark marks a member that may be absent.
std::string markdown_table(const Object& object);

/// The named schemas of one OpenAPI document.
class Components {
 public:
  /// A reference to the object; the first call adds its schema.
  json::object refer_to(const Object& object);
  /// The same for a schema made by hand.
  json::object refer_to(std::string_view name, json::object schema);
  [[nodiscard]] json::object take() { return std::move(schemas_); }

 private:
  json::object schemas_;
};

}  // namespace relay::schema
