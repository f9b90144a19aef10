/// Any profile file: accepted, or refused with one error and its location. An accepted profile can read a screen.
#include <cstdint>
#include <string_view>

#include "check.h"
#include "profiles/profile_file.h"
#include "profiles/screen_watcher.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay;
  if (size > 16 * 1024) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto profile = profiles::read_profile(text, "p.toml");
  if (!profile) {
    const auto& message = profile.error().message();
    FUZZ_CHECK(message.starts_with("p.toml") && message.find('\n') == std::string::npos);
    return 0;
  }
  const auto eyes = profiles::CompiledProfile::open(*profile);
  FUZZ_CHECK(eyes.has_value());
  terminal::Screen screen{{40, 12}};
  screen.feed("> hello\r\n\r\n* hi there\r\n  @relay:Bob x\r\n+------+\r\n| >    |\r\n+------+");
  profiles::ScreenWatcher watcher{*eyes};
  (void)watcher.update(screen, SteadyTime{});
  (void)watcher.update(screen, SteadyTime{std::chrono::seconds{10}});
  screen.feed("\r\n\x1b[?2004h=====\r\n> ");
  (void)watcher.update(screen, SteadyTime{std::chrono::seconds{20}});
  screen.feed("\x1b[?2004lhello\r\n\r\nShall I? [y/n] ");
  (void)watcher.update(screen, SteadyTime{std::chrono::seconds{30}});
  return 0;
}
