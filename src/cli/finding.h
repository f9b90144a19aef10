/// What one check of `doctor` found: how things are, and what to do where they are not well.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace relay::cli {

enum class Verdict { Ok, Note, Problem };

struct Finding {
  std::string_view what;
  Verdict verdict = Verdict::Ok;
  std::string says;
  std::string advice;  // what to do; empty when all is well
};

inline Finding fine(std::string_view what, std::string says) { return {what, Verdict::Ok, std::move(says), ""}; }
inline Finding note(std::string_view what, std::string says, std::string advice) {
  return {what, Verdict::Note, std::move(says), std::move(advice)};
}
inline Finding problem(std::string_view what, std::string says, std::string advice) {
  return {what, Verdict::Problem, std::move(says), std::move(advice)};
}

}  // namespace relay::cli
