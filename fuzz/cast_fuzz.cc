/// Whatever a recording holds: lines are played or refused with their number, and time never runs backwards.
#include <cstdint>
#include <string_view>

#include "check.h"
#include "profiles/cast_player.h"
#include "profiles/shelf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay;
  static const auto eyes = *profiles::Eyes::open(*profiles::profile_named("claude"));
  if (size > 32 * 1024) return 0;
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  profiles::CastPlayer player{eyes};
  double last = 0;
  const auto check = [&](const std::vector<profiles::Seen>& all) {
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
      return 0;
    }
    check(*seen);
  }
  check(player.finish());
  return 0;
}
