#include "host/agent_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/delivery/message_files.h"

namespace relay::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct AgentFolderTest : ::testing::Test {
  std::string root;
  AgentFolderOptions options;
  std::string folder;

  AgentFolderTest() {
    std::string pattern = "/tmp/agent-folder-XXXXXX";
    root = ::mkdtemp(pattern.data());
    options = {.root = root, .names = {".agent-relay", "agents", "Bob"}, .retention = 24h};
    folder = root + "/.agent-relay/agents/Bob";
  }
  ~AgentFolderTest() override { fs::remove_all(root); }

  static void put(const std::string& path, std::chrono::hours age = 0h) {
    std::ofstream{path} << "text";
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  }
};

TEST_F(AgentFolderTest, EndedAgentLeavesNothing) {
  {
    const auto made = AgentFolder::make(options);
    ASSERT_TRUE(made.has_value());
    EXPECT_TRUE(fs::exists(folder + "/relay.md"));
    EXPECT_EQ(made->skill(), folder + "/relay.md");
    EXPECT_TRUE(fs::is_directory(made->outbox()));
  }
  EXPECT_FALSE(fs::exists(root + "/.agent-relay/agents"));
  EXPECT_TRUE(fs::exists(root + "/.agent-relay/.gitignore"));
}

TEST_F(AgentFolderTest, FilesOfTheAgentOrTheUserStay) {
  {
    const auto made = AgentFolder::make(options);
    put(made->outbox() + "/draft", 1000h);
    put(folder + "/notes.md", 1000h);
    fs::create_directory(folder + "/messages");
    put(folder + "/messages/mine.md", 1000h);
  }
  EXPECT_TRUE(fs::exists(folder + "/outbox/draft"));
  EXPECT_TRUE(fs::exists(folder + "/notes.md"));
  EXPECT_TRUE(fs::exists(folder + "/messages/mine.md"));
  EXPECT_FALSE(fs::exists(folder + "/relay.md"));
  {
    const auto made = AgentFolder::make(options);
    std::ofstream{made->skill(), std::ios::app} << "and a line of the user's";
  }
  EXPECT_TRUE(fs::exists(folder + "/relay.md"));
}

TEST_F(AgentFolderTest, LongMessagesStayForTheRetention) {
  MessageFiles texts{root, {".agent-relay", "agents", "Bob", "messages"}};
  const auto fresh = *texts.write("aaaa", "long"), old = *texts.write("bbbb", "long");
  fs::last_write_time(old, fs::file_time_type::clock::now() - 25h);
  const auto other = root + "/.agent-relay/agents/Eve";
  fs::create_directories(other + "/messages");
  put(other + "/messages/cccc.message.md", 25h);
  (void)AgentFolder::make(options);
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(other)) << "of an agent that has ended";
}

TEST_F(AgentFolderTest, FolderOfARunningAgentStays) {
  auto eve = options;
  eve.names.back() = "Eve";
  const auto running = AgentFolder::make(eve);
  (void)AgentFolder::make(options);
  EXPECT_TRUE(fs::is_directory(running->outbox()));
  EXPECT_TRUE(fs::exists(running->skill()));
}

TEST_F(AgentFolderTest, NothingIsRemovedThroughALink) {
  const auto outside = root + "/outside";
  fs::create_directories(outside + "/messages");
  fs::create_directories(outside + "/outbox");
  put(outside + "/messages/aaaa.message.md", 1000h);
  std::ofstream{outside + "/relay.md"} << "";
  fs::create_directories(root + "/.agent-relay/agents");
  fs::create_directory_symlink(outside, root + "/.agent-relay/agents/Eve");
  fs::create_directory_symlink(outside, folder);
  EXPECT_FALSE(AgentFolder::make(options).has_value());
  EXPECT_TRUE(fs::exists(outside + "/messages/aaaa.message.md"));
  EXPECT_TRUE(fs::exists(outside + "/outbox"));
  EXPECT_TRUE(fs::exists(outside + "/relay.md"));
  EXPECT_TRUE(fs::is_symlink(folder));
}

}  // namespace
}  // namespace relay::host
