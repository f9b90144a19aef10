/// What `main` does, without being it.
#pragma once

#include <string>
#include <vector>

namespace relay::cli {

/// `words` without the program's name; the exit code. Nothing throws past this.
int run_program(const std::vector<std::string>& words);

}  // namespace relay::cli
