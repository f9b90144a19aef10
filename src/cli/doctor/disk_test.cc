#include "cli/doctor/disk.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

const DiskFacts kFine = {.free_bytes = 1'000'000'000, .files = 10, .free_files = 5};

DiskFacts facts(void (*change)(DiskFacts& facts)) {
  auto all = kFine;
  all.path = "/home/me/.agent-relay";
  change(all);
  return all;
}

TEST(Disk, FullOrReadOnlyDiskIsProblemWithFix) {
  EXPECT_EQ(assess_disk(facts([](DiskFacts&) {})).problem, "");
  EXPECT_EQ(assess_disk(facts([](DiskFacts& all) { all.read_only = true; })).problem,
            "the file system of /home/me/.agent-relay is read-only");
  EXPECT_EQ(assess_disk(facts([](DiskFacts& all) { all.may_write = false; })).problem,
            "/home/me/.agent-relay is not writable");
  const auto full = assess_disk(facts([](DiskFacts& all) { all.free_bytes = 0; }));
  EXPECT_TRUE(full.problem.ends_with("free at /home/me/.agent-relay")) << full.problem;
  EXPECT_EQ(full.fix, "free some space; messages are refused when the disk is full");
  EXPECT_EQ(assess_disk(facts([](DiskFacts& all) { all.free_files = 0; })).problem,
            "no free inodes at /home/me/.agent-relay");
  EXPECT_EQ(assess_disk(facts([](DiskFacts& all) { all.files = all.free_files = 0; })).problem, "")
      << "it does not count them";
}

TEST(Disk, MissingPathUsesNearestDirectory) {
  EXPECT_EQ(inspect_disk("/proc/no/such/place").problem.contains("/proc"), true);
}

}  // namespace
}  // namespace relay::cli
