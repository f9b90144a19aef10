#include "host/delivery/fair_queue.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

struct FairQueueTest : ::testing::Test {
  profiles::TypingRules rules;
  FairQueue queue;

  Delivery delivery(const std::string& from, const std::string& id) {
    return {.ref = {.id = id}, .from = from, .text = "text of " + id, .injection = Injection{rules}};
  }
  /// `a1` is the first of a's.
  void come(std::initializer_list<const char*> ids) {
    for (const std::string id : ids) queue.add(delivery(id.substr(0, 1), id));
  }
  std::string order() {
    std::string ids;
    while (!queue.empty()) ids += queue.take().ref.id + " ";
    return ids;
  }
};

TEST_F(FairQueueTest, SendersTakeTurnsAndKeepOrder) {
  come({"a1", "a2", "a3", "b1", "c1", "b2"});
  std::string listed;
  for (const auto* each : queue.in_order()) listed += each->ref.id + " ";
  EXPECT_EQ(listed, "a1 b1 c1 a2 b2 a3 ");
  EXPECT_EQ(order(), listed) << "the order of delivery";
}

TEST_F(FairQueueTest, RequeuedDeliveryIsNext) {
  come({"a1", "a2", "b1"});
  queue.requeue(queue.take());
  EXPECT_EQ(queue.front().ref.id, "a1");
  auto one = queue.take();
  auto other = queue.take();
  queue.requeue(std::move(other));
  queue.requeue(std::move(one));
  EXPECT_EQ(order(), "a1 b1 a2 ");
}

TEST_F(FairQueueTest, MisfitDelaysOnlyItsSender) {
  come({"a1", "a2", "b1", "b2"});
  const auto small = [](const Delivery& each) { return each.ref.id != "a1"; };
  EXPECT_EQ(queue.take_if(small)->ref.id, "b1");
  EXPECT_EQ(queue.take_if(small)->ref.id, "b2");
  EXPECT_FALSE(queue.take_if(small)) << "a2 is not before a1";
  EXPECT_EQ(order(), "a1 a2 ");
}

TEST_F(FairQueueTest, DeliveryIsExtractedFromMiddle) {
  come({"a1", "a2", "b1"});
  EXPECT_EQ(queue.extract("b1")->ref.id, "b1");
  EXPECT_FALSE(queue.extract("b1"));
  queue.erase_if([](const Delivery& each) { return each.ref.id == "a1"; });
  EXPECT_EQ(order(), "a2 ");
  EXPECT_TRUE(queue.in_order().empty());
}

}  // namespace
}  // namespace relay::host
