#include "store/sqlite/refused_changes.h"

#include <gtest/gtest.h>

#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

class RefusedFile : public testing::Test {
 protected:
  RefusedChanges open() {
    RefusedChanges refused{"db", disk.vfs()};
    EXPECT_TRUE(refused.load());
    return refused;
  }
  /// The changes that a retry tries, when none of them succeeds.
  static std::size_t tried(RefusedChanges& refused) {
    std::size_t count = 0;
    EXPECT_TRUE(refused.retry([&](const Change&) -> Result<bool> { return ++count, false; }));
    return count;
  }
  const Changes changes = direct(5, "Alice", "Bob", "a");
  SimDisk disk;
};

TEST_F(RefusedFile, ChangeIsKeptOnceAndSurvivesPowerCut) {
  {
    auto refused = open();
    EXPECT_EQ(refused.keep(changes[0]).value(), RefusedChanges::KeepResult::Added);
    EXPECT_EQ(refused.keep(changes[0]).value(), RefusedChanges::KeepResult::Duplicate);
    SeededRandom random{1};
    disk.crash(random);
  }
  auto refused = open();
  EXPECT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused.keep(changes[0]).value(), RefusedChanges::KeepResult::Duplicate);
}

TEST_F(RefusedFile, AppliedChangeIsDroppedAndLastOneDeletesFile) {
  auto refused = open();
  ASSERT_TRUE(refused.keep(changes[0]));
  ASSERT_TRUE(refused.keep(changes[2]));
  const auto is_message = [](const Change& change) -> Result<bool> {
    return std::holds_alternative<AddMessage>(change);
  };
  EXPECT_EQ(refused.retry(is_message).value(), 1u);
  auto later = open();
  EXPECT_EQ(later.size(), 1u) << "the other one stays";
  EXPECT_EQ(later.retry([](const Change&) -> Result<bool> { return true; }).value(), 1u);
  EXPECT_FALSE(disk.read("db-refused"));
}

TEST_F(RefusedFile, ChangeOnRefusedOneIsNotRetriedAlone) {
  auto refused = open();
  ASSERT_TRUE(refused.keep(changes[0]));
  EXPECT_TRUE(refused.has_base_of(changes[1])) << "a delivery of the message";
  ASSERT_TRUE(refused.keep(changes[1]));
  EXPECT_TRUE(refused.has_base_of(change(6, DeliveryState::Delivered)));
  EXPECT_FALSE(refused.has_base_of(change(8, DeliveryState::Delivered)));
  ASSERT_TRUE(refused.keep(change(6, DeliveryState::Delivered)));
  EXPECT_EQ(tried(refused), 1u);
  EXPECT_EQ(refused.size(), 3u);
}

TEST_F(RefusedFile, DamagedRecordLosesNoOther) {
  {
    auto refused = open();
    for (const auto& one : changes) ASSERT_TRUE(refused.keep(one));
  }
  const auto whole = *disk.read("db-refused");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto bytes = whole;
    bytes[at] ^= 16;
    disk.put("db-refused", bytes);
    EXPECT_GE(open().size(), 2u) << "byte " << at;
  }
}

TEST_F(RefusedFile, FileIsBounded) {
  auto refused = open();
  const std::string large(3 << 20, 'x');
  std::size_t kept = 0;
  for (std::int64_t key = 1; key < 20; ++key)
    kept += refused.keep(AddMessage{message(key, "Alice", "Bob", large)}).value() == RefusedChanges::KeepResult::Added
                ? 1u
                : 0u;
  EXPECT_EQ(kept, 5u);
  EXPECT_LE(disk.read("db-refused")->size(), RefusedChanges::kMaxBytes);
}

}  // namespace
}  // namespace relay::store
