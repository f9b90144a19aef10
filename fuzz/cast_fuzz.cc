/// Any recording: lines are played or refused with their number, and time never runs backwards.
#include <cstdint>
#include <string_view>

#include "check.h"
#include "profiles/cast_player.h"
#include "profiles/registry.h"

namespace {

using namespace relay;

void play(const profiles::CompiledProfile& eyes, std::string_view rest) {
  profiles::CastPlayer player{eyes};
  double last = 0;
  const auto check = [&](const std::vector<profiles::TimedObservation>& all) {
    for (const auto& seen : all) {
      FUZZ_CHECK(seen.seconds >= last);
      last = seen.seconds;
    }
  };
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto seen = player.take(line);
    if (!seen) {
      FUZZ_CHECK(!seen.error().message().empty());
      return;
    }
    check(*seen);
  }
  check(player.finish());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto full_screen = *profiles::CompiledProfile::open(*profiles::find_profile("claude"));
  static const auto line_mode = *profiles::CompiledProfile::open(*profiles::find_profile("goose"));
  if (size > 32 * 1024) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  play(full_screen, text);
  play(line_mode, text);
  return 0;
}
