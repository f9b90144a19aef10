#include "activity/commands.h"

#include <gtest/gtest.h>

namespace relay::activity {
namespace {

using events::ItemType;

TEST(Commands, RecognizesTestRuns) {
  for (const auto* line : {"pytest -q",
                           "python -m pytest tests/",
                           "python3 -m unittest discover",
                           "npm test",
                           "npm run test:unit",
                           "yarn test",
                           "npx jest src",
                           "npx --yes vitest run",
                           "cargo test --all",
                           "go test ./...",
                           "ctest --output-on-failure",
                           "make -j4 test",
                           "make check",
                           "ninja -C build/dev test",
                           "cmake --build build --target test",
                           "./gradlew test",
                           "mvn -q verify",
                           "dotnet test",
                           "bundle exec rspec",
                           "cd sub && npm test",
                           "CI=1 npm test",
                           "timeout 60 pytest -x",
                           "sudo -E env A=b pytest",
                           "uv run pytest",
                           "bash -lc 'cd x; go test ./...'",
                           "build/dev/src/host/host_test --gtest_brief=1",
                           "make && make test",
                           "pytest -q 2>&1 | tail -20",
                           "deno test",
                           "bun test",
                           "mix test"})
    EXPECT_EQ(item_type_of(line), ItemType::TestRun) << line;
}

TEST(Commands, RecognizesBuilds) {
  for (const auto* line : {"make", "make -j8 all", "ninja -C build", "cmake --build build", "cmake -S . -B build",
                           "cargo build", "go build ./...", "npm run build", "npx tsc -p .", "g++ -o x x.cc && ./x",
                           "docker build .", "gradle assembleDebug"})
    EXPECT_EQ(item_type_of(line), ItemType::Build) << line;
}

TEST(Commands, RecognizesPureSearches) {
  for (const auto* line :
       {"rg TODO src", "grep -rn x . | head -5", "find . -name '*.cc'", "git grep needle", "cd src && fd txt"})
    EXPECT_EQ(item_type_of(line), ItemType::Search) << line;
  EXPECT_EQ(item_type_of("cat log.txt | grep error"), ItemType::ToolCall);
  EXPECT_EQ(item_type_of("rm -rf x && grep y z"), ItemType::ToolCall);
}

TEST(Commands, ClassifiesTheRestAsCalls) {
  for (const auto* line :
       {"", "   ", "ls", "echo pytest", "cat test", "git commit -m 'make test pass'", "sleep 2; echo all green",
        "npm install", "vim my_test.cc", "cat host_test", "'", "a=b", "bash", "&&;|", "go run ."})
    EXPECT_EQ(item_type_of(line), ItemType::ToolCall) << line;
}

TEST(Commands, BoundsNesting) {
  EXPECT_EQ(item_type_of("sh -c \"sh -c 'pytest'\""), ItemType::TestRun);
  EXPECT_EQ(item_type_of(std::string(1 << 20, '(')), ItemType::ToolCall);
}

}  // namespace
}  // namespace relay::activity
