/// What `doctor` looks at. Each check is a function from the world to a finding; none changes anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"

namespace relay::cli {

enum class Verdict { Ok, Note, Problem };

struct Finding {
  std::string_view what;
  Verdict verdict = Verdict::Ok;
  std::string says;
  std::string advice;  // what to do; empty when all is well
};

std::vector<Finding> examine(const Context& context);

}  // namespace relay::cli
