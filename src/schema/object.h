/// What schema.h makes of tables, without templates: members, types, and what is done with them.
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

/// Of text its bytes, of a number its value, of a list its length.
struct Bounds {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// Where nothing else is said.
inline constexpr std::int64_t kMaxTextBytes = 1 << 20;
inline constexpr std::int64_t kMaxItems = 10'000;  // of a list or a map

/// Where a value stands, for sentences: `options[2].name`.
using Path = std::string;

/// How values of one C++ type look in JSON.
class Type {
 public:
  virtual ~Type() = default;
  virtual Result<void> read(const json::value& from, void* into, const Bounds& bounds, const Path& path) const = 0;
  [[nodiscard]] virtual json::value write(const void* value) const = 0;
  virtual json::object json_schema(const Bounds& bounds, Components& components) const = 0;
  /// As people read it in a table.
  [[nodiscard]] virtual std::string type_name() const = 0;
  [[nodiscard]] virtual bool may_be_absent() const { return false; }
  /// Then it is not written.
  virtual bool is_absent(const void* /*value*/) const { return false; }
};

struct Member {
  std::string_view name;
  std::string_view description;
  Bounds bounds;
  const Type& (*type)();
  void* (*in)(void* whole);  // where it stands in a struct
};

/// The table of one struct, without the struct's type.
struct Object {
  std::string_view name;
  std::string_view about;
  std::span<const Member> members;
};

/// What is there and not in the table.
enum class UnknownMembers : std::uint8_t { PassedOver, Refused };

json::object write(const Object& object, const void* value);
Result<void> read(const Object& object, const json::object& from, void* into, UnknownMembers extra,
                  const Path& path = {});
/// The JSON Schema of the object itself; those inside become components.
json::object json_schema(const Object& object, Components& components);
/// A table in Markdown: member, type, meaning. What may be absent has a question mark.
std::string markdown_table(const Object& object);

/// The named schemas of one OpenAPI document.
class Components {
 public:
  /// A reference to it; described the first time.
  json::object refer_to(const Object& object);
  /// The same for one that is made by hand.
  json::object refer_to(std::string_view name, json::object schema);
  [[nodiscard]] json::object take() { return std::move(schemas_); }

 private:
  json::object schemas_;
};

}  // namespace relay::schema
