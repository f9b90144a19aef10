#include "pty/process_tree.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace relay::pty {
namespace {

Process one(pid_t pid, pid_t parent, pid_t session) {
  return {.id = {pid, 1000}, .parent = parent, .group = session, .session = session, .ended = false};
}

std::set<pid_t> numbers(const std::vector<Process>& all) {
  std::set<pid_t> found;
  for (const auto& each : all) found.insert(each.id.pid);
  return found;
}

TEST(ParseProcess, ParsesAStatLine) {
  const auto found = parse_process("42 (sh) S 7 41 40 34816 42 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, (ProcessId{42, 98765}));
  EXPECT_EQ(found->parent, 7);
  EXPECT_EQ(found->group, 41);
  EXPECT_EQ(found->session, 40);
  EXPECT_FALSE(found->ended);
}

TEST(ParseProcess, AcceptsNamesThatLookLikeFields) {
  const auto found = parse_process("42 (a) R 1 (b)) Z 7 41 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->parent, 7);
  EXPECT_TRUE(found->ended);
}

TEST(ParseProcess, RefusesATruncatedLine) {
  const std::string line = "42 (sh) S 7 41 40 34816 42 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765";
  for (std::size_t cut = 0; cut + 5 < line.size(); ++cut)
    EXPECT_FALSE(parse_process(line.substr(0, cut))) << "cut at byte " << cut;
}

TEST(MembersOf, FollowsSessionsAndParentsInAnyOrder) {
  const std::vector<Process> all{one(13, 12, 12), one(12, 11, 12), one(11, 10, 10), one(10, 1, 10),
                                 one(20, 1, 10),  one(30, 1, 30),  one(1, 0, 1)};
  EXPECT_EQ(numbers(members_of(all, {10, 1000}, {})), (std::set<pid_t>{10, 11, 12, 13, 20}));
}

TEST(MembersOf, KeepsKnownMembersAfterTheirParentDied) {
  const std::vector<Process> all{one(10, 1, 10), one(50, 1, 50), one(51, 50, 50)};
  EXPECT_EQ(numbers(members_of(all, {10, 1000}, {{50, 1000}})), (std::set<pid_t>{10, 50, 51}));
  EXPECT_EQ(numbers(members_of(all, {10, 1000}, {{50, 999}})), (std::set<pid_t>{10})) << "the number was reused";
}

TEST(MembersOf, IgnoresAReusedLeaderNumber) {
  const std::vector<Process> all{one(10, 1, 10), one(11, 10, 10)};
  EXPECT_TRUE(members_of(all, {10, 999}, {}).empty());
}

TEST(ProcessTable, FindsThisProcess) {
  const auto us = find_process(::getpid());
  ASSERT_TRUE(us);
  EXPECT_EQ(us->parent, ::getppid());
  EXPECT_TRUE(numbers(all_processes()).contains(::getpid()));
  EXPECT_TRUE(send_signal(us->id, 0));
  EXPECT_FALSE(send_signal({::getpid(), us->id.start + 1}, 0)) << "same number, another process";
}

}  // namespace
}  // namespace relay::pty
