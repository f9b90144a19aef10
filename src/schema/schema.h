/// A JSON object as a C++ struct, described by one table of its members.
///
/// Why: the form of an event, a request or a response is written down once. Reading with checks, writing, the schema in
///   our OpenAPI document and the reference page all come from that table, so they cannot differ.
/// How: the table is beside the struct.
///
///     struct Place { std::int64_t x = 0; std::optional<std::string> label; };
///     template <>
///     inline constexpr auto schema::kObject<Place> = schema::object(
///         "Place", "A point on a line.",
///         schema::member<&Place::x>("x", "how far to the right"),
///         schema::member<&Place::label>("label", "what is there", {.max = 80}));
///
/// Members may be strings, Named strings, bool, numbers, enums with `kChoices`, other such structs, json::object
///   unchanged, and optionals, vectors and maps of these. An optional member may be absent; all others are required. A
///   Nullable member is always present, as a value or as null.
/// Invariants: `read(write(value))` is the value; `read` accepts what the schema accepts, and the other way round,
///   except that lengths count bytes here and characters in the schema.
/// Threading: any; the tables are constants.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "schema/object.h"
#include "schema/tables.h"
#include "schema/types.h"

namespace relay::schema {

template <std::size_t Size>
struct ObjectTable {
  std::string_view name;
  std::string_view description;
  std::array<Member, Size> members;
};

namespace detail {
template <class C, class V>
C class_of(V C::*);
template <class C, class V>
V value_of(V C::*);
}  // namespace detail

template <auto Pointer>
consteval Member member(std::string_view name, std::string_view description, Bounds bounds = {}) {
  using Whole = decltype(detail::class_of(Pointer));
  using Value = decltype(detail::value_of(Pointer));
  return {name, description, bounds, &type_of<Value>,
          [](void* whole) -> void* { return &(static_cast<Whole*>(whole)->*Pointer); }};
}

template <class... Members>
consteval auto object(std::string_view name, std::string_view description, Members... members) {
  return ObjectTable<sizeof...(Members)>{name, description, {members...}};
}

template <class T>
json::object write(const T& value) {
  return write(object_of<T>(), &value);
}

/// The message of an error names the member.
template <class T>
Result<T> read(const json::object& from, UnknownMembers unknown = UnknownMembers::Ignore) {
  T value{};
  RELAY_TRY(read(object_of<T>(), from, &value, unknown));
  return value;
}

}  // namespace relay::schema
