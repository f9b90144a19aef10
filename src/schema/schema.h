/// A JSON object as a C++ struct, by one table of its members.
///
/// Why: what an event, a request or an answer looks like is said once. Reading with checks, writing, the schema in our
///   OpenAPI document and the page for people all come from that table, so they cannot differ.
/// How: the table stands beside the struct.
///
///     struct Place { std::int64_t x = 0; std::optional<std::string> label; };
///     template <>
///     inline constexpr auto schema::kObject<Place> = schema::object(
///         "Place", "A point on a line.",
///         schema::member<&Place::x>("x", "how far to the right"),
///         schema::member<&Place::label>("label", "what is there", {.most = 80}));
///
/// Members may be text, Named text, bool, numbers, enums with `kChoices`, other such structs, json::object as it is,
///   and optionals, vectors and maps of these. An optional member may be absent; all others must be there. A Nullable member
///   is there always, as a value or as null.
/// Invariants: `read(write(value))` is the value; what `read` accepts the schema accepts, and the other way round, but
///   for lengths, which are bytes here and letters there.
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
  std::string_view about;
  std::array<Member, Size> members;
};

namespace detail {
template <class C, class V>
C class_of(V C::*);
template <class C, class V>
V value_of(V C::*);
}  // namespace detail

template <auto Pointer>
consteval Member member(std::string_view name, std::string_view about, Bounds bounds = {}) {
  using Whole = decltype(detail::class_of(Pointer));
  using Value = decltype(detail::value_of(Pointer));
  return {name, about, bounds, &type_of<Value>,
          [](void* whole) -> void* { return &(static_cast<Whole*>(whole)->*Pointer); }};
}

template <class... Members>
consteval auto object(std::string_view name, std::string_view about, Members... members) {
  return ObjectTable<sizeof...(Members)>{name, about, {members...}};
}

template <class T>
json::object write(const T& value) {
  return write(object_of<T>(), &value);
}

/// The sentence of an error names the member.
template <class T>
Result<T> read(const json::object& from, UnknownMembers extra = UnknownMembers::PassedOver) {
  T value{};
  RELAY_TRY(read(object_of<T>(), from, &value, extra));
  return value;
}

}  // namespace relay::schema
