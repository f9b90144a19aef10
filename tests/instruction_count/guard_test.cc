/// `run` itself, on the real paths, with a record that was tampered with.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/format.h"
#include "judge.h"
#include "net/testing/temporary_directory.h"

namespace relay::cost {
namespace {

constexpr int kSkipped = 77;

struct Ran {
  int code = -1;
  std::string said;
};

Ran run_guard(const std::string& path, const std::string& recorded) {
  ::setenv("COST_RECORDED", recorded.c_str(), 1);
  Ran ran;
  std::FILE* out = ::popen(format("{} {} 2>&1", RELAY_COST_RUN, path).c_str(), "r");
  if (out == nullptr) return ran;
  for (int c = 0; (c = std::fgetc(out)) != EOF;) ran.said += static_cast<char>(c);
  ran.code = WEXITSTATUS(::pclose(out));
  return ran;
}

TEST(CostGuard, FailsWhenAPathWasRecordedAtHalfTheCostAndSaysSo) {
  std::ifstream in{RELAY_COST_RECORDED};
  auto recorded = read_recorded(std::string{std::istreambuf_iterator<char>{in}, {}});
  ASSERT_TRUE(recorded) << recorded.error().message();
  recorded->counts["json"] /= 2;
  const net::testing::TemporaryDirectory directory;
  const auto doctored = directory.file("recorded.txt");
  constexpr Path kJson[] = {{.name = "json", .unit = "byte", .allowed = 0.25, .what = "", .prepare = nullptr}};
  std::ofstream{doctored} << write_recorded(kJson, *recorded);

  const auto ran = run_guard("json", doctored);
  if (ran.code == kSkipped) GTEST_SKIP() << ran.said;
  EXPECT_EQ(ran.code, 1) << ran.said;
  EXPECT_TRUE(ran.said.contains("json costs ")) << ran.said;
  EXPECT_TRUE(ran.said.contains("record it with: tests/instruction_count/run --record")) << ran.said;
}

}  // namespace
}  // namespace relay::cost
