#include "config/system_token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace relay::config {
namespace {

struct SystemToken : ::testing::Test {
  std::string folder = ::testing::TempDir() + "/system-token-" + std::to_string(::getpid());
  Home home;
  SeededRandom random{1};

  SystemToken() {
    std::filesystem::create_directories(folder);
    home.system_token = folder + "/system.token";
  }
  ~SystemToken() override { std::filesystem::remove_all(folder); }
};

TEST_F(SystemToken, IsCreatedOnceAndPrivate) {
  EXPECT_EQ(read_system_token(home), "");
  const auto token = ensure_system_token(home, random);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->size(), 64u);
  struct stat status{};
  ASSERT_EQ(::stat(home.system_token.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(*ensure_system_token(home, random), *token);
  std::filesystem::remove(home.system_token);
  EXPECT_EQ(*ensure_system_token(home, random, *token), *token) << "a running daemon keeps its token";
  EXPECT_EQ(read_system_token(home), *token);
  EXPECT_EQ(read_system_token(home), *token);
}

TEST_F(SystemToken, ReplacesAReadableFile) {
  const auto token = *ensure_system_token(home, random);
  ASSERT_EQ(::chmod(home.system_token.c_str(), 0644), 0);
  EXPECT_EQ(read_system_token(home), "");
  EXPECT_NE(*ensure_system_token(home, random), token);
}

TEST_F(SystemToken, ReplacesATruncatedToken) {
  std::ofstream{home.system_token} << "abc";
  ::chmod(home.system_token.c_str(), 0600);
  EXPECT_EQ(read_system_token(home), "");
  EXPECT_EQ(ensure_system_token(home, random)->size(), 64u);
}

}  // namespace
}  // namespace relay::config
