/// The result of one check of `doctor`: what it found, and how to fix a problem.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace relay::cli {

enum class CheckStatus { Ok, Note, Problem };

struct CheckResult {
  std::string_view check;  // its name: `disk`
  CheckStatus status = CheckStatus::Ok;
  std::string message;
  std::string fix;  // the next step; empty when nothing is wrong
};

inline CheckResult fine(std::string_view check, std::string message) {
  return {check, CheckStatus::Ok, std::move(message), ""};
}
inline CheckResult note(std::string_view check, std::string message, std::string fix) {
  return {check, CheckStatus::Note, std::move(message), std::move(fix)};
}
inline CheckResult problem(std::string_view check, std::string message, std::string fix) {
  return {check, CheckStatus::Problem, std::move(message), std::move(fix)};
}

}  // namespace relay::cli
