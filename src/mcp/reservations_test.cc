#include "mcp/reservations.h"

#include <gtest/gtest.h>

#include "client/testing/memory_directory.h"

namespace relay::mcp {
namespace {

constexpr WallMs kNow = 1'000'000;

std::vector<std::string> paths_of(const std::vector<Reservation>& all) {
  std::vector<std::string> paths;
  for (const auto& one : all) paths.push_back(one.path);
  return paths;
}
using Paths = std::vector<std::string>;

TEST(Reservations, ConflictsNameTheHolder) {
  ReservationTable table;
  EXPECT_EQ(paths_of(table.reserve("Alice", {"src/net", "README.md"}, "tidying", kNow + 60'000)->granted),
            (Paths{"src/net", "README.md"}));
  const auto bob = table.reserve("Bob", {"src/net/loop.cc", "src", "src/network", "docs"}, "", kNow + 1);
  EXPECT_EQ(paths_of(bob->granted), (Paths{"src/network", "docs"}));
  EXPECT_EQ(paths_of(bob->conflicts), Paths{"src/net"});
  EXPECT_EQ(bob->conflicts[0].holder, "Alice");
  EXPECT_TRUE(table.reserve("Bob", {"."}, "", kNow + 1)->granted.empty());
}

TEST(Reservations, AreRenewedReleasedAndExpire) {
  ReservationTable table;
  ASSERT_TRUE(table.reserve("Alice", {"a", "b"}, "", kNow + 10));
  ASSERT_TRUE(table.reserve("Alice", {"a"}, "still", kNow + 100));
  EXPECT_EQ(table.all().size(), 2U);
  EXPECT_TRUE(table.release("Bob", {}).empty());
  const auto later = ReservationTable::parse(table.text(), kNow + 50);
  EXPECT_EQ(paths_of(later.all()), Paths{"a"});
  EXPECT_EQ(later.all()[0].note, "still");
  EXPECT_EQ(paths_of(table.release("Alice", {"b", "c"})), Paths{"b"});
  EXPECT_EQ(paths_of(table.release("Alice", {})), Paths{"a"});
}

TEST(Reservations, AreBounded) {
  ReservationTable table;
  Paths many;
  for (std::size_t i = 0; i < kMaxReservations; ++i) many.push_back("f" + std::to_string(i));
  ASSERT_TRUE(table.reserve("Alice", many, std::string(10'000, 'n'), kNow));
  EXPECT_EQ(table.all()[0].note.size(), kMaxNoteBytes);
  EXPECT_TRUE(table.reserve("Alice", {"f0"}, "", kNow));
  EXPECT_FALSE(table.reserve("Alice", {"one more"}, "", kNow));
}

TEST(Reservations, UnreadableFileCountsAsEmpty) {
  for (const auto* text : {"", "{", "[]", "{}", R"({"reservations":3})", R"({"reservations":[1,{"path":"a"},{}]})"})
    EXPECT_TRUE(ReservationTable::parse(text, kNow).all().empty()) << text;
}

TEST(Reservations, AreSavedInAFileUnderALock) {
  client::testing::MemoryDirectory directory;
  const auto lock = lock_reservations(directory);
  ASSERT_TRUE(lock);
  EXPECT_TRUE(is(lock_reservations(directory).error(), LockErrc::Held));
  auto table = load_reservations(directory, kNow).value();
  ASSERT_TRUE(table.reserve("Alice", {"a"}, "", kNow + 5));
  ASSERT_TRUE(save_reservations(directory, table));
  EXPECT_EQ(load_reservations(directory, kNow)->all(), table.all());
}

TEST(Reservations, PathsStayInsideTheProject) {
  EXPECT_EQ(path_in_project("/p", "src/./a/../b.cc"), "src/b.cc");
  EXPECT_EQ(path_in_project("/p", "/p/src/"), "src");
  EXPECT_EQ(path_in_project("/p", "/p"), ".");
  EXPECT_EQ(path_in_project("/p", "."), ".");
  for (const auto* outside : {"", "..", "../q", "/", "/q/x", "/pq", "a/../../x", "a\nb"})
    EXPECT_FALSE(path_in_project("/p", outside)) << outside;
}

}  // namespace
}  // namespace relay::mcp
