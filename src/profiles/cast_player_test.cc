#include "profiles/cast_player.h"

#include <gtest/gtest.h>

#include "profiles/registry.h"

namespace relay::profiles {
namespace {

std::string error_of(const std::vector<std::string>& lines) {
  const auto compiled = CompiledProfile::open(*find_profile("claude"));
  CastPlayer player{*compiled};
  for (const auto& line : lines)
    if (const auto taken = player.take(line); !taken) return taken.error().message();
  (void)player.finish();
  return "none";
}

TEST(CastPlayer, ReportsAnInvalidLine) {
  const std::string header = R"({"version":2,"width":80,"height":24})";
  EXPECT_EQ(error_of({header, R"([0.1,"o","hello"])", R"([0.2,"r","100x30"])", R"([0.3,"i","x"])"}), "none");
  EXPECT_TRUE(error_of({"{}"}).starts_with("this is not an asciinema recording"));
  EXPECT_TRUE(error_of({R"({"version":2,"width":80,"height":99999999})"}).starts_with("this is not an asciinema"));
  EXPECT_TRUE(error_of({header, "nonsense"}).starts_with("line 2 is not an event"));
  EXPECT_TRUE(error_of({header, R"([-1,"o","x"])"}).starts_with("line 2 is not an event"));
  EXPECT_TRUE(error_of({header, R"([1e300,"o","x"])"}).starts_with("line 2 is not an event"));
  EXPECT_TRUE(error_of({header, R"([1,"r","0x0"])"}).starts_with("line 2 has an invalid size"));
}

TEST(CastPlayer, ReportsCommandsAndStates) {
  const auto compiled = CompiledProfile::open(*find_profile("claude"));
  CastPlayer player{*compiled};
  const std::string rule(40, '-');
  ASSERT_TRUE(player.take(R"({"version":2,"width":60,"height":10})"));
  const auto draw = [&](double seconds, const std::string& title, const std::string& text) {
    const auto line =
        json::serialize(json::array{seconds, "o",
                                    "\x1b]0;" + title + "\x07\x1b[H\x1b[2J❯ go\r\n\r\n" + text +
                                        "\r\n\r\n────────────────────\r\n❯ \r\n────────────────────\x1b[A\x1b[3G"});
    auto seen = player.take(line);
    EXPECT_TRUE(seen) << seen.error().message();
    return seen ? *std::move(seen) : std::vector<TimedObservation>{};
  };
  draw(1, "◐ busy", "● Sending.\r\n\r\n  @relay:Bob half");
  draw(2, "✳ idle", "● Sending.\r\n\r\n  @relay:Bob half or whole");
  std::vector<std::string> bodies;
  for (const auto& seen : player.finish())
    if (const auto* seen_command = std::get_if<CommandSeen>(&seen.observation))
      bodies.push_back(std::get<commands::SendCommand>(seen_command->command).body);
  EXPECT_EQ(bodies, std::vector<std::string>{"half or whole"});
}

}  // namespace
}  // namespace relay::profiles
