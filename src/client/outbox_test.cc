#include "client/outbox.h"

#include "client/errors.h"

namespace relay::client {
namespace {

OutgoingMessage hello(std::string to = "Bob") { return {std::move(to), R"({"kind":"message","body":"hello"})"}; }

TEST(Outbox, NumbersFromOneWithoutGaps) {
  SeededRandom random{1};
  Outbox outbox{Numbering::Epoch, {}, random};
  EXPECT_EQ(*outbox.add(hello()), outbox.epoch() + "-1");
  EXPECT_FALSE(outbox.add({"", "{}"}));  // a refused message uses no number
  EXPECT_EQ(*outbox.add(hello()), outbox.epoch() + "-2");
}

TEST(Outbox, ShortLivedProgramsLeaveNoEpochBehind) {
  SeededRandom random{1};
  Outbox outbox{Numbering::RandomIds, {}, random};
  EXPECT_TRUE(outbox.epoch().empty());
  EXPECT_NE(*outbox.add(hello()), *outbox.add(hello()));
}

TEST(Outbox, KeepsEntriesUntilTheyAreAnswered) {
  SeededRandom random{1};
  Outbox outbox{Numbering::Epoch, {}, random};
  const auto first = *outbox.add(hello()), second = *outbox.add(hello());
  EXPECT_TRUE(outbox.answered(second));
  EXPECT_FALSE(outbox.answered(second));
  EXPECT_EQ(outbox.size(), 1U);
  EXPECT_EQ(outbox.after(0)->id, first);
  EXPECT_EQ(outbox.after(1), nullptr);
  EXPECT_TRUE(outbox.answered(first));
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.bytes(), 0U);
}

TEST(Outbox, IsBoundedInEntriesAndBytes) {
  SeededRandom random{1};
  Outbox few{Numbering::Epoch, {.max_entries = 2}, random};
  EXPECT_TRUE(few.add(hello()) && few.add(hello()));
  const auto third = few.add(hello());
  ASSERT_FALSE(third);
  EXPECT_TRUE(is(third.error(), Errc::Full)) << third.error().message();

  Outbox small{Numbering::Epoch, {.max_bytes = 100}, random};
  EXPECT_TRUE(small.add({"Bob", R"({"body":")" + std::string(500, 'x') + R"("})"}));  // one always fits
  EXPECT_FALSE(small.add(hello()));
}

TEST(Outbox, RefusesInvalidMessages) {
  SeededRandom random{1};
  Outbox outbox{Numbering::Epoch, {}, random};
  const auto code_of = [&](OutgoingMessage message) { return outbox.add(std::move(message)).error(); };
  EXPECT_TRUE(is(code_of({"Bob", "5"}), Errc::BadMessage));
  EXPECT_TRUE(is(code_of({"Bob", "{"}), Errc::BadMessage));
  EXPECT_TRUE(is(code_of({"Bob", "{\"body\":\"\xff\"}"}), Errc::BadMessage));
  EXPECT_TRUE(is(code_of({"Bob", "{}", "", "[]"}), Errc::BadMessage));
  EXPECT_TRUE(is(code_of({"Bob\tCarol", "{}"}), Errc::BadMessage));
  EXPECT_TRUE(is(code_of({std::string(1000, 'b'), "{}"}), Errc::BadMessage));
  EXPECT_TRUE(is(code_of({"Bob", R"({"body":")" + std::string(2 << 20, 'x') + R"("})"}), Errc::TooLarge));
  EXPECT_TRUE(outbox.empty());
}

}  // namespace
}  // namespace relay::client
