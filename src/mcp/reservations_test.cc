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

TEST(Reservations, TellWhoWorksWhereAlready) {
  ReservationTable book;
  EXPECT_EQ(paths_of(book.reserve("Alice", {"src/net", "README.md"}, "tidying", kNow + 60'000)->granted),
            (Paths{"src/net", "README.md"}));
  const auto bob = book.reserve("Bob", {"src/net/loop.cc", "src", "src/network", "docs"}, "", kNow + 1);
  EXPECT_EQ(paths_of(bob->granted), (Paths{"src/network", "docs"}));
  EXPECT_EQ(paths_of(bob->conflicts), Paths{"src/net"});
  EXPECT_EQ(bob->conflicts[0].holder, "Alice");
  EXPECT_TRUE(book.reserve("Bob", {"."}, "", kNow + 1)->granted.empty());
}

TEST(Reservations, AreRenewedReleasedAndEndByThemselves) {
  ReservationTable book;
  ASSERT_TRUE(book.reserve("Alice", {"a", "b"}, "", kNow + 10));
  ASSERT_TRUE(book.reserve("Alice", {"a"}, "still", kNow + 100));
  EXPECT_EQ(book.all().size(), 2U);
  EXPECT_TRUE(book.release("Bob", {}).empty());
  const auto later = ReservationTable::parse(book.text(), kNow + 50);
  EXPECT_EQ(paths_of(later.all()), Paths{"a"});
  EXPECT_EQ(later.all()[0].note, "still");
  EXPECT_EQ(paths_of(book.release("Alice", {"b", "c"})), Paths{"b"});
  EXPECT_EQ(paths_of(book.release("Alice", {})), Paths{"a"});
}

TEST(Reservations, AreBounded) {
  ReservationTable book;
  Paths many;
  for (std::size_t i = 0; i < kMaxReservations; ++i) many.push_back("f" + std::to_string(i));
  ASSERT_TRUE(book.reserve("Alice", many, std::string(10'000, 'n'), kNow));
  EXPECT_EQ(book.all()[0].note.size(), kMaxNoteBytes);
  EXPECT_TRUE(book.reserve("Alice", {"f0"}, "", kNow));
  EXPECT_FALSE(book.reserve("Alice", {"one more"}, "", kNow));
}

TEST(Reservations, AFileThatCannotBeUnderstoodIsBegunAnew) {
  for (const auto* text : {"", "{", "[]", "{}", R"({"reservations":3})", R"({"reservations":[1,{"path":"a"},{}]})"})
    EXPECT_TRUE(ReservationTable::parse(text, kNow).all().empty()) << text;
}

TEST(Reservations, LiveInAFileUnderALock) {
  client::testing::MemoryDirectory directory;
  const auto lock = lock_reservations(directory);
  ASSERT_TRUE(lock);
  EXPECT_TRUE(is(lock_reservations(directory).error(), LockErrc::Held));
  auto book = load_reservations(directory, kNow).value();
  ASSERT_TRUE(book.reserve("Alice", {"a"}, "", kNow + 5));
  ASSERT_TRUE(save_reservations(directory, book));
  EXPECT_EQ(load_reservations(directory, kNow)->all(), book.all());
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
