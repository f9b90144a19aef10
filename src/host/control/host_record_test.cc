#include "host/control/host_record.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "net/testing/temporary_directory.h"
#include "net/unix_address.h"
#include "pty/process_table.h"

namespace relay::host {
namespace {

struct HostRecordTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;

  HostRecord record(const std::string& id, const std::string& name, WallMs started = 0) {
    return {.id = id,
            .name = name,
            .host_pid = 12,
            .agent_pid = 13,
            .host_start = 1'000'000'000'000,
            .agent_start = 15,
            .boot_id = pty::boot_id(),
            .cli = "claude",
            .profile = "claude",
            .socket = directory.file(id + ".sock"),
            .working_directory = "/p",
            .started_at = started,
            .spawned = true,
            .spawner = "Al",
            .team = "t",
            .model = "m",
            .task = "do \"it\""};
  }
};

TEST_F(HostRecordTest, RecordIsReadAsWritten) {
  text::JsonWriter json;
  write_record(json, record("a", "Bob", 7));
  const auto read = parse_record(json.take());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "Bob");
  EXPECT_EQ(read->agent_pid, 13);
  EXPECT_EQ(read->host_start, 1'000'000'000'000U);
  EXPECT_EQ(read->agent_start, 15U);
  EXPECT_TRUE(is_of_this_boot(*read));
  EXPECT_EQ(read->started_at, 7);
  EXPECT_EQ(read->task, "do \"it\"");
  EXPECT_TRUE(read->spawned);
  for (const auto* bad : {"", "{}", "[]", R"({"name":3,"socket":"/s"})"}) EXPECT_FALSE(parse_record(bad)) << bad;
}

TEST_F(HostRecordTest, OnlyListeningHostsAreFound) {
  const auto listener = net::bind_and_listen(directory.file("a.sock"));
  const auto younger = net::bind_and_listen(directory.file("c.sock"));
  ASSERT_TRUE(listener && younger);
  const auto first = RecordFile::write(directory.path(), record("a", "Bob", 1));
  const auto second = RecordFile::write(directory.path(), record("c", "Bob", 2));
  ASSERT_TRUE(first && second);
  {
    text::JsonWriter json;
    write_record(json, record("dead", "Carol"));
    std::ofstream{directory.file("dead.json")} << json.take();
    std::ofstream{directory.file("torn.json")} << "{\"name\":";
  }
  EXPECT_EQ(reachable_hosts(directory.path()).size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(directory.file("dead.json")));
  EXPECT_EQ(find_host(directory.path(), "Bob")->id, "c") << "the youngest";
  EXPECT_EQ(find_host(directory.path(), "bob")->id, "c");
  EXPECT_FALSE(find_host(directory.path(), "Carol"));
}

TEST_F(HostRecordTest, HostIsListedAfterStartOfProgram) {
  const auto listening = net::bind_and_listen(directory.file("a.sock"));
  auto starting = record("a", "Bob");
  starting.agent_pid = 0;
  const auto file = RecordFile::write(directory.path(), starting);
  ASSERT_TRUE(listening && file);
  EXPECT_EQ(recorded_hosts(directory.path()).size(), 1U) << "its processes are recognized";
  EXPECT_TRUE(reachable_hosts(directory.path()).empty());
  ASSERT_TRUE(file->update(record("a", "Bob")));
  EXPECT_EQ(reachable_hosts(directory.path()).at(0).agent_pid, 13);
}

TEST_F(HostRecordTest, FileIsRemovedWithHost) {
  { const auto file = RecordFile::write(directory.path(), record("a", "Bob")); }
  EXPECT_FALSE(std::filesystem::exists(directory.file("a.json")));
  EXPECT_TRUE(reachable_hosts("/nowhere/at/all").empty());
}

}  // namespace
}  // namespace relay::host
