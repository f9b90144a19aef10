#include "cli/doctor/agent_versions.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "net/testing/temporary_directory.h"

namespace relay::cli {
namespace {

using namespace std::chrono_literals;

TEST(AgentVersions, AreParsedFromOutput) {
  EXPECT_EQ(parse_version("2.1.325 (Claude Code)\n"), "2.1.325");
  EXPECT_EQ(parse_version("codex-cli 0.166.0\n"), "0.166.0");
  EXPECT_EQ(parse_version("0.61.0\n"), "0.61.0");
  EXPECT_EQ(parse_version("v1.18.33"), "1.18.33");
  EXPECT_EQ(parse_version("aider 0.86.3.dev12+g12"), "0.86.3.dev12+g12");
  EXPECT_EQ(parse_version("gpt 5 of 2026."), "");
  EXPECT_EQ(parse_version(""), "");
}

TEST(AgentVersions, AreComparedByNumbers) {
  EXPECT_TRUE(compare_versions("2.10.0", "2.9.9") > 0);
  EXPECT_TRUE(compare_versions("0.61.0", "0.166.0") < 0);
  EXPECT_TRUE(compare_versions("1.0", "1.0.0") == 0);
}

TEST(AgentVersions, UntestedVersionGetsRemark) {
  EXPECT_EQ(version_deviation("2.1.325", {"2.1.325", "2.1.197"}), "");
  EXPECT_EQ(version_deviation("9.9", {}), "");
  EXPECT_EQ(version_deviation("2.2.0", {"2.1.325", "2.1.197"}),
            "newer than 2.1.325, the version its profile was tested with");
  EXPECT_EQ(version_deviation("2.0.9", {"2.1.325", "2.1.197"}),
            "older than 2.1.197, the version its profile was tested with");
  EXPECT_EQ(version_deviation("2.1.200", {"2.1.325", "2.1.197"}),
            "between the versions its profile was tested with (2.1.197 to 2.1.325)");
}

TEST(AgentVersions, QueryHasTimeLimit) {
  const net::testing::TemporaryDirectory directory;
  const auto script = [&](const std::string& name, const std::string& body) {
    const auto path = directory.file(name);
    std::ofstream{path} << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0700);
    return path;
  };
  const auto quick = script("quick", "echo \"quick $1 3.4.5\"");
  const auto never = script("never", "sleep 600");
  EXPECT_EQ(query_versions({quick, directory.file("none")}, 60s),
            (std::vector<std::string>{"quick --version 3.4.5\n", ""}));
  EXPECT_EQ(query_versions({never}, 10ms), std::vector<std::string>{""});
}

}  // namespace
}  // namespace relay::cli
