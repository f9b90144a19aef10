#include "base/lifetime.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace relay {
namespace {

TEST(Lifetime, WatchIsFalseAfterDestruction) {
  std::optional<Lifetime> lifetime{std::in_place};
  const auto first = lifetime->watch();
  const auto copy = first;
  EXPECT_TRUE(first && copy);
  lifetime.reset();
  EXPECT_FALSE(first || copy);
}

TEST(Lifetime, EndStopsEveryWatchForGood) {
  Lifetime lifetime;
  const auto before = lifetime.watch();
  lifetime.end();
  EXPECT_FALSE(before);
  EXPECT_FALSE(lifetime.watch());
}

TEST(Lifetime, AsLastMemberEndsBeforeTheOthers) {
  struct Owner {
    std::shared_ptr<int> resource;  // its deleter runs a callback
    Lifetime lifetime = {};
  };
  bool alive_in_deleter = true;
  {
    Owner owner;
    owner.resource = {new int{0}, [&, alive = owner.lifetime.watch()](const int* value) {
                        alive_in_deleter = static_cast<bool>(alive);
                        delete value;
                      }};
  }
  EXPECT_FALSE(alive_in_deleter);
}

}  // namespace
}  // namespace relay
