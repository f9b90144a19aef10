/// `run` itself, on the real paths, with a modified record.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/format.h"
#include "comparison.h"
#include "net/testing/temporary_directory.h"

namespace relay::cost {
namespace {

constexpr int kSkipped = 77;

struct RunResult {
  int code = -1;
  std::string output;
};

RunResult run_guard(const std::string& path, const std::string& recorded) {
  ::setenv("COST_RECORDED", recorded.c_str(), 1);
  RunResult result;
  std::FILE* out = ::popen(format("{} {} 2>&1", RELAY_COST_RUN, path).c_str(), "r");
  if (out == nullptr) return result;
  for (int c = 0; (c = std::fgetc(out)) != EOF;) result.output += static_cast<char>(c);
  result.code = WEXITSTATUS(::pclose(out));
  return result;
}

TEST(CostRun, FailsWhenAPathIsRecordedAtHalfItsCost) {
  std::ifstream in{RELAY_COST_RECORDED};
  auto recorded = read_recorded(std::string{std::istreambuf_iterator<char>{in}, {}});
  ASSERT_TRUE(recorded) << recorded.error().message();
  recorded->counts["json"] /= 2;
  const net::testing::TemporaryDirectory directory;
  const auto modified = directory.file("recorded.txt");
  constexpr Path kJson[] = {{.name = "json", .unit = "byte", .allowed = 0.25, .description = "", .prepare = nullptr}};
  std::ofstream{modified} << write_recorded(kJson, *recorded);

  const auto result = run_guard("json", modified);
  if (result.code == kSkipped) GTEST_SKIP() << result.output;
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_TRUE(result.output.contains("json needs ")) << result.output;
  EXPECT_TRUE(result.output.contains("record it with: tests/instruction_count/run --record")) << result.output;
}

}  // namespace
}  // namespace relay::cost
