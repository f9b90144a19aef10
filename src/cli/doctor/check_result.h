/// What one check of `doctor` found: how things are, and what to do where they are not well.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace relay::cli {

enum class CheckStatus { Ok, Note, Problem };

struct CheckResult {
  std::string_view what;
  CheckStatus verdict = CheckStatus::Ok;
  std::string message;
  std::string fix;  // what to do; empty when all is well
};

inline CheckResult fine(std::string_view what, std::string says) {
  return {what, CheckStatus::Ok, std::move(says), ""};
}
inline CheckResult note(std::string_view what, std::string says, std::string advice) {
  return {what, CheckStatus::Note, std::move(says), std::move(advice)};
}
inline CheckResult problem(std::string_view what, std::string says, std::string advice) {
  return {what, CheckStatus::Problem, std::move(says), std::move(advice)};
}

}  // namespace relay::cli
