/// The table that a struct or an enum declares. Used through schema.h.
#pragma once

#include <optional>
#include <string_view>

#include "schema/object.h"

namespace relay::schema {

/// A value or null: unlike an optional member it is always written, and required to be read.
template <class T>
struct Nullable : std::optional<T> {
  using std::optional<T>::optional;
};

/// Specialised for each struct that has a table.
template <class T>
inline constexpr int kObject = 0;

/// Specialised for each enum: an array of Choice, in the order in which a reference lists them.
template <class Enum>
inline constexpr int kChoices = 0;
template <class Enum>
struct Choice {
  Enum value;
  std::string_view name;
};

template <class Enum>
constexpr std::string_view name_of(Enum value) {
  for (const auto& choice : kChoices<Enum>)
    if (choice.value == value) return choice.name;
  return {};
}

template <class Enum>
constexpr std::optional<Enum> parse_choice(std::string_view name) {
  for (const auto& choice : kChoices<Enum>)
    if (choice.name == name) return choice.value;
  return std::nullopt;
}

template <class T>
constexpr Object object_of() {
  return {kObject<T>.name, kObject<T>.description, kObject<T>.members};
}

template <class T>
const Type& type_of();

}  // namespace relay::schema
