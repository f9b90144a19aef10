// The JSON form of each C++ type. The other half of schema.h.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "base/named.h"
#include "schema/object.h"
#include "schema/tables.h"

namespace relay::schema {

namespace detail {

Failure invalid(const Path& path, std::string_view must_be);
Result<std::string> read_string(const json::value& from, const Bounds& bounds, const Path& path);
Result<std::int64_t> read_integer(const json::value& from, const Bounds& bounds, const Path& path);
Result<double> read_number(const json::value& from, const Path& path);
Result<bool> read_bool(const json::value& from, const Path& path);
Result<const json::array*> read_list(const json::value& from, const Bounds& bounds, const Path& path);
Result<const json::object*> read_object(const json::value& from, const Path& path);
Failure invalid_choice(const Path& path, std::span<const std::string_view> names);
json::object string_schema(const Bounds& bounds);
json::object integer_schema(const Bounds& bounds);
json::object array_schema(json::object items, const Bounds& bounds);
json::object map_schema(json::object values);
json::object nullable_schema(json::object inner);
json::object enum_schema(std::span<const std::string_view> names);
std::string join_names(std::span<const std::string_view> names);

template <class T>
constexpr bool is_named = false;
template <class Value, class Tag>
constexpr bool is_named<Named<Value, Tag>> = true;
template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_nullable = false;
template <class T>
constexpr bool is_nullable<Nullable<T>> = true;
template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;
template <class T>
constexpr bool is_map = false;
template <class T>
constexpr bool is_map<std::map<std::string, T>> = true;

template <class Enum>
consteval auto names_of() {
  std::array<std::string_view, kChoices<Enum>.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kChoices<Enum>[i].name;
  return names;
}

template <class T>
class TypeFor final : public Type {
 public:
  Result<void> read(const json::value& from, void* into, const Bounds& bounds, const Path& path) const override {
    T& value = *static_cast<T*>(into);
    if constexpr (is_optional<T> || is_nullable<T>) {
      using Inner = T::value_type;
      if (from.is_null()) {  // null in an optional counts as absent
        value.reset();
        return {};
      }
      return type_of<Inner>().read(from, &value.emplace(), bounds, path);
    } else if constexpr (is_list<T>) {
      const auto* list = RELAY_TRY(read_list(from, bounds, path));
      value.resize(list->size());
      for (std::size_t i = 0; i < list->size(); ++i)
        RELAY_TRY(
            type_of<typename T::value_type>().read((*list)[i], &value[i], {}, path + "[" + std::to_string(i) + "]"));
    } else if constexpr (is_map<T>) {
      const auto* object = RELAY_TRY(read_object(from, path));
      if (object->size() > static_cast<std::size_t>(kMaxItems)) return invalid(path, "shorter");
      for (const auto& [name, inner] : *object)
        RELAY_TRY(type_of<typename T::mapped_type>().read(inner, &value[std::string{name}], {},
                                                          path + "." + std::string{name}));
    } else if constexpr (std::is_enum_v<T>) {
      static constexpr auto kNames = names_of<T>();
      const auto text = RELAY_TRY(read_string(from, {}, path));
      for (const auto& choice : kChoices<T>) {
        if (choice.name != text) continue;
        value = choice.value;
        return {};
      }
      return invalid_choice(path, kNames);
    } else if constexpr (std::same_as<T, bool>) {
      value = RELAY_TRY(read_bool(from, path));
    } else if constexpr (std::integral<T>) {
      value = static_cast<T>(RELAY_TRY(read_integer(from, narrowed(bounds), path)));
    } else if constexpr (std::floating_point<T>) {
      value = static_cast<T>(RELAY_TRY(read_number(from, path)));
    } else if constexpr (std::same_as<T, std::string>) {
      value = RELAY_TRY(read_string(from, bounds, path));
    } else if constexpr (is_named<T>) {
      value = T{RELAY_TRY(read_string(from, bounds, path))};
    } else if constexpr (std::same_as<T, json::object>) {
      value = *RELAY_TRY(read_object(from, path));
    } else {
      const auto* members = RELAY_TRY(read_object(from, path));
      return schema::read(object_of<T>(), *members, into, UnknownMembers::Ignore, path + ".");
    }
    return {};
  }

  json::value write(const void* from) const override {
    const T& value = *static_cast<const T*>(from);
    if constexpr (is_optional<T> || is_nullable<T>) {
      return value ? type_of<typename T::value_type>().write(&*value) : json::value{};
    } else if constexpr (is_list<T>) {
      json::array list;
      list.reserve(value.size());
      for (const auto& inner : value) list.push_back(type_of<typename T::value_type>().write(&inner));
      return list;
    } else if constexpr (is_map<T>) {
      json::object object;
      for (const auto& [name, inner] : value) object[name] = type_of<typename T::mapped_type>().write(&inner);
      return object;
    } else if constexpr (std::is_enum_v<T>) {
      return json::value(name_of(value));
    } else if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      return json::value(static_cast<std::int64_t>(value));
    } else if constexpr (is_named<T>) {
      return json::value(value.value());
    } else if constexpr (std::constructible_from<json::value, const T&> && !std::is_class_v<T>) {
      return json::value(value);
    } else if constexpr (std::same_as<T, std::string> || std::same_as<T, json::object>) {
      return json::value(value);
    } else {
      return schema::write(object_of<T>(), from);
    }
  }

  json::object json_schema(const Bounds& bounds, Components& components) const override {
    if constexpr (is_optional<T>)
      return type_of<typename T::value_type>().json_schema(bounds, components);
    else if constexpr (is_nullable<T>)
      return nullable_schema(type_of<typename T::value_type>().json_schema(bounds, components));
    else if constexpr (is_list<T>)
      return array_schema(type_of<typename T::value_type>().json_schema({}, components), bounds);
    else if constexpr (is_map<T>)
      return map_schema(type_of<typename T::mapped_type>().json_schema({}, components));
    else if constexpr (std::is_enum_v<T>) {
      static constexpr auto kNames = names_of<T>();
      return enum_schema(kNames);
    } else if constexpr (std::same_as<T, bool>)
      return json::object({{"type", "boolean"}});
    else if constexpr (std::integral<T>)
      return integer_schema(narrowed(bounds));
    else if constexpr (std::floating_point<T>)
      return json::object({{"type", "number"}});
    else if constexpr (std::same_as<T, std::string> || is_named<T>)
      return string_schema(bounds);
    else if constexpr (std::same_as<T, json::object>)
      return json::object({{"type", "object"}});
    else
      return components.refer_to(object_of<T>());
  }

  std::string type_name() const override {
    if constexpr (is_optional<T>)
      return type_of<typename T::value_type>().type_name();
    else if constexpr (is_nullable<T>)
      return type_of<typename T::value_type>().type_name() + " or null";
    else if constexpr (is_list<T>)
      return "list of " + type_of<typename T::value_type>().type_name();
    else if constexpr (is_map<T>)
      return "map to " + type_of<typename T::mapped_type>().type_name();
    else if constexpr (std::is_enum_v<T>) {
      static constexpr auto kNames = names_of<T>();
      return join_names(kNames);
    } else if constexpr (std::same_as<T, bool>)
      return "true or false";
    else if constexpr (std::integral<T>)
      return "whole number";
    else if constexpr (std::floating_point<T>)
      return "number";
    else if constexpr (std::same_as<T, std::string> || is_named<T>)
      return "string";
    else if constexpr (std::same_as<T, json::object>)
      return "object";
    else
      return std::string{kObject<T>.name};
  }

  bool may_be_absent() const override { return is_optional<T>; }
  bool is_absent(const void* value) const override {
    if constexpr (is_optional<T>)
      return !static_cast<const T*>(value)->has_value();
    else
      return false;
  }

 private:
  /// Bounds limited to the range of the C++ type.
  static Bounds narrowed(Bounds bounds) {
    if constexpr (std::integral<T> && sizeof(T) < sizeof(std::int64_t)) {
      bounds.min = std::max<std::int64_t>(bounds.min, std::numeric_limits<T>::min());
      bounds.max = std::min<std::int64_t>(bounds.max, std::numeric_limits<T>::max());
    } else if constexpr (std::unsigned_integral<T>) {
      bounds.min = std::max<std::int64_t>(bounds.min, 0);
    }
    return bounds;
  }
};

}  // namespace detail

template <class T>
const Type& type_of() {
  static const detail::TypeFor<T> type;
  return type;
}

}  // namespace relay::schema
