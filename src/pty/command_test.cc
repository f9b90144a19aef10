#include "pty/command.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "net/testing/temporary_directory.h"
#include "pty/errors.h"

namespace relay::pty {
namespace {

using net::testing::TemporaryDirectory;

class FindProgram : public ::testing::Test {
 protected:
  void put(const std::string& name, mode_t mode) {
    std::ofstream{place.file(name)} << "#!/bin/sh\n";
    ASSERT_EQ(::chmod(place.file(name).c_str(), mode), 0);
  }
  Result<std::string> find(const std::string& name, const std::string& path) {
    return find_program({.argv = {name}, .environment = {"PATH=" + path}, .directory = place.path()});
  }
  TemporaryDirectory place;
};

TEST_F(FindProgram, SearchesThePathOfTheCommand) {
  put("agent", 0755);
  EXPECT_EQ(find("agent", "/nowhere:" + place.path()).value(), place.file("agent"));
  const auto missing = find("agent", "/nowhere");
  ASSERT_FALSE(missing);
  EXPECT_TRUE(is(missing.error(), Errc::CommandNotFound));
  EXPECT_EQ(missing.error().message(), "command not found: agent; check that it is installed and on the PATH");
}

TEST_F(FindProgram, ResolvesAPathFromTheCommandsDirectory) {
  put("agent", 0755);
  EXPECT_EQ(find("./agent", "/nowhere").value(), "./agent");
  EXPECT_TRUE(is(find("./other", "/nowhere").error(), Errc::CommandNotFound));
}

TEST_F(FindProgram, SkipsFilesThatCannotBeExecutedAndNamesThem) {
  put("agent", 0644);
  const auto refused = find("agent", place.path() + ":/nowhere");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(is(refused.error(), Errc::CannotExecute));
  EXPECT_TRUE(refused.error().message().contains(place.file("agent")));
  EXPECT_EQ(find("sh", place.path() + ":/bin").value(), "/bin/sh");
}

TEST_F(FindProgram, RefusesAnEmptyCommand) {
  EXPECT_FALSE(find_program({}));
  EXPECT_FALSE(find("", "/bin"));
}

TEST(Environment, ReplacesAnExistingVariable) {
  std::vector<std::string> environment{"AB=1", "A=2", "A=3"};
  set_variable(environment, "A", "4");
  EXPECT_EQ(environment, (std::vector<std::string>{"AB=1", "A=4"}));
  EXPECT_EQ(variable(environment, "A"), "4");
  EXPECT_EQ(variable(environment, "C"), "");
}

}  // namespace
}  // namespace relay::pty
