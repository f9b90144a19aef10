/// The body of `main`, callable from tests.
#pragma once

#include <string>
#include <vector>

namespace relay::cli {

/// `words` are the arguments without the program name. Returns the exit code. Throws nothing.
int run_program(const std::vector<std::string>& words);

}  // namespace relay::cli
