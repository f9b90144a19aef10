// The bound of the memory store.
#include "store/memory/store.h"

#include <gtest/gtest.h>

#include "store/testing/sample_records.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

constexpr std::uint64_t kBound = 1 << 18;

class BoundedMemory : public testing::Test {
 protected:
  /// Commits a message of 1 KB with the delivery key + 1.
  void add(std::int64_t key, DeliveryState end = DeliveryState::Delivered) {
    auto changes = direct(key, "Alice", "Bob", std::string(1'000, 'x'));
    if (end != DeliveryState::Queued) changes.push_back(change(key + 1, end));
    ASSERT_TRUE(commit(store_, changes));
  }
  void flood(std::int64_t from, std::int64_t to) {
    for (auto key = from; key < to; key += 2) add(key);
  }
  bool has(std::int64_t key) { return store_.trace(short_id(Key{key})).has_value(); }

  MemoryStore store_{"memory", 0, kBound};
};

TEST_F(BoundedMemory, PrunesOldestSettledMessagesWithEvents) {
  flood(1, 2'001);
  EXPECT_LE(store_.stats()->bytes, kBound);
  EXPECT_GT(store_.stats()->messages, 50u);
  EXPECT_FALSE(has(1));
  EXPECT_TRUE(has(1'999));
  const auto page = store_.events({}).value();
  EXPECT_EQ(page.newest, 3'000u) << "numbering continues";
  EXPECT_GT(page.oldest, 2'000u);
  EXPECT_EQ(page.events.front().number, page.oldest);
  EXPECT_EQ(store_.load()->newest, Key{2'000});
  EXPECT_EQ(store_.load()->streams.size(), 1u);
}

TEST_F(BoundedMemory, NeverPrunesPendingMessages) {
  add(1, DeliveryState::Queued);
  add(3, DeliveryState::Accepted);
  flood(5, 801);
  EXPECT_EQ(store_.backlog(backlog_of("Bob"))->items.size(), 2u);
  ASSERT_TRUE(commit(store_, {change(2, DeliveryState::Delivered)}));
  flood(801, 803);
  EXPECT_FALSE(has(1)) << "it is the oldest now";
  EXPECT_TRUE(has(3));
}

TEST_F(BoundedMemory, KeepsPendingMessagesBeyondBound) {
  for (std::int64_t key = 1; key < 801; key += 2) add(key, DeliveryState::Queued);
  EXPECT_GT(store_.stats()->bytes, kBound);
  EXPECT_EQ(store_.stats()->pending, 400u);
  Changes done;
  for (std::int64_t key = 2; key <= 800; key += 2) done.push_back(change(key, DeliveryState::Delivered));
  ASSERT_TRUE(commit(store_, done));
  EXPECT_LE(store_.stats()->bytes, kBound);
  EXPECT_TRUE(has(799));
}

TEST_F(BoundedMemory, RollbackKeepsBoundConsistent) {
  add(1, DeliveryState::Queued);
  flood(3, 801);
  ASSERT_TRUE(store_.begin());
  ASSERT_TRUE(store_.apply(change(2, DeliveryState::Delivered)));
  store_.rollback();
  flood(801, 1'601);
  EXPECT_EQ(store_.backlog(backlog_of("Bob"))->items.size(), 1u);
  ASSERT_TRUE(commit(store_, {change(2, DeliveryState::Delivered)}));
  flood(1'601, 1'603);
  EXPECT_FALSE(has(1));
}

}  // namespace
}  // namespace relay::store
