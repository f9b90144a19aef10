/// Any config.toml: settings or one error.
#include <cstddef>
#include <cstdint>

#include "config/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  relay::config::Settings settings;
  const auto applied = settings.apply_file({reinterpret_cast<const char*>(bytes), size}, "config.toml");
  if (!applied && applied.error().message().empty()) __builtin_trap();
  return 0;
}
