#include "base/result.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace relay {

Error Error::from_errno(std::string_view doing, int number) {
  std::string message{doing};
  message += ": ";
  message += std::generic_category().message(number);
  return Error{{number, std::generic_category()}, std::move(message)};
}

Failure fail(std::string message) {
  return Failure{Error{std::make_error_code(std::errc::invalid_argument), std::move(message)}};
}

Failure fail_errno(std::string_view doing, int number) { return Failure{Error::from_errno(doing, number)}; }

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "agent-relay: broken invariant %s at %s:%d; please report this\n", condition, file, line);
  std::abort();
}

}  // namespace relay
