/// What is shown to both emulators, as lines of JSON.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "terminal/geometry.h"

namespace relay::terminal::oracle {

/// Output, a new size, or a moment at which the screens are compared.
struct Step {
  char kind = 's';  // o, r, s
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
