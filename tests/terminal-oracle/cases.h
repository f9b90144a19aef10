/// The input of both emulators, as lines of JSON.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "terminal/geometry.h"

namespace relay::terminal::oracle {

/// Output ('o'), a new size ('r'), or a comparison of the screens ('s').
struct Step {
  char kind = 's';
  std::string bytes{};
  Size size{};
};

struct Case {
  std::string name{};
  Size size{};
  std::vector<Step> steps{};
};

/// Every recording below `agents`, then generated streams.
Result<std::vector<Case>> make_cases(const std::filesystem::path& agents);

std::string to_json(const Case& test);
Result<Case> case_from_json(std::string_view line);

}  // namespace relay::terminal::oracle
