/// Errors as values.
///
/// `Result<T>` is `std::expected<T, Error>`. An Error carries a code (each module owns a short `Errc`; system failures
/// use errno) and one message for the user: the thing, the reason, the next step. `RELAY_TRY` returns an error to the
/// caller. A condition that only a bug in this program can break is a `RELAY_ASSERT`, in release builds too.
#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace relay {

class Error {
 public:
  Error(std::error_code code, std::string message) : code_{code}, message_{std::move(message)} {}

  /// From errno: "cannot open /x: Permission denied".
  static Error from_errno(std::string_view doing, int number = errno);

  [[nodiscard]] const std::error_code& code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::error_code code_;
  std::string message_;
};

template <class T = void>
using Result = std::expected<T, Error>;

using Failure = std::unexpected<Error>;

/// An error category made from a module's `Errc` and its `std::string_view describe(Errc)`.
template <class Errc>
class ErrcCategory final : public std::error_category {
 public:
  static const ErrcCategory& instance() {
    static const ErrcCategory category;
    return category;
  }
  const char* name() const noexcept override { return "agent-relay"; }
  std::string message(int value) const override { return std::string{describe(static_cast<Errc>(value))}; }
};

template <class Errc>
Failure fail(Errc code, std::string message) {
  return Failure{Error{{static_cast<int>(code), ErrcCategory<Errc>::instance()}, std::move(message)}};
}

/// For a failure whose code no caller checks.
Failure fail(std::string message);
Failure fail_errno(std::string_view doing, int number = errno);

template <class Errc>
bool is(const Error& error, Errc code) {
  return error.code() == std::error_code{static_cast<int>(code), ErrcCategory<Errc>::instance()};
}

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace relay

/// The value of a Result; on failure returns its error from the enclosing function.
#define RELAY_TRY(expression)                                                            \
  __extension__({                                                                        \
    auto relay_try_result = (expression);                                                \
    if (!relay_try_result) return ::relay::Failure{std::move(relay_try_result).error()}; \
    ::relay::detail::unwrap(std::move(relay_try_result));                                \
  })

#define RELAY_ASSERT(condition) \
  (static_cast<bool>(condition) ? void() : ::relay::assertion_failed(#condition, __FILE__, __LINE__))

namespace relay::detail {
template <class T>
T unwrap(Result<T>&& result) {
  return *std::move(result);
}
inline void unwrap(Result<void>&&) {}
}  // namespace relay::detail
