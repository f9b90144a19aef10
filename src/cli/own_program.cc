#include "cli/own_program.h"

#include <filesystem>

#include "base/format.h"

namespace relay::cli {

Result<std::string> own_program() {
  std::error_code failed;
  auto path = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  if (failed) return fail(relay::format("cannot tell where this program lies: {}", failed.message()));
  return path;
}

}  // namespace relay::cli
