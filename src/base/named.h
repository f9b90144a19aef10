/// Two things with one representation but two meanings get two types.
#pragma once

#include <compare>
#include <functional>
#include <utility>

namespace relay {

template <class T, class Tag>
class Named {
 public:
  using Value = T;

  Named() = default;
  explicit Named(T value) : value_{std::move(value)} {}

  [[nodiscard]] const T& value() const& { return value_; }
  [[nodiscard]] T&& value() && { return std::move(value_); }

  friend auto operator<=>(const Named&, const Named&) = default;

 private:
  T value_{};
};

}  // namespace relay

template <class T, class Tag>
struct std::hash<relay::Named<T, Tag>> {
  std::size_t operator()(const relay::Named<T, Tag>& named) const { return std::hash<T>{}(named.value()); }
};
