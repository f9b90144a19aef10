#include "client/outbox_file.h"

#include "base/format.h"
#include "client/testing/memory_directory.h"

namespace relay::client {
namespace {

using testing::MemoryDirectory;

OutgoingMessage text(std::string_view body) { return {"Bob", R"({"body":")" + std::string{body} + R"("})"}; }

std::vector<std::string> bodies(const Outbox& outbox) {
  std::vector<std::string> all;
  for (const auto* entry = outbox.after(0); entry != nullptr; entry = outbox.after(entry->number))
    all.push_back(entry->lost ? "lost" : entry->message.payload);
  return all;
}

std::unique_ptr<Outbox> open(MemoryDirectory& disk, Random& random, SyncOn sync = SyncOn::Transmission,
                             OutboxLimits limits = {}) {
  auto outbox = Outbox::open(disk, "outbox", limits, sync, random);
  EXPECT_TRUE(outbox) << outbox.error().message();
  return outbox ? std::move(*outbox) : nullptr;
}

struct OutboxFileTest : ::testing::Test {
  MemoryDirectory disk;
  SeededRandom random{7};
};

TEST_F(OutboxFileTest, UnansweredMessagesSurviveACrash) {
  auto outbox = open(disk, random);
  const auto epoch = outbox->epoch();
  (void)outbox->add(text("one"));
  (void)outbox->add(text("two"));
  outbox->answered(epoch + "-1");
  disk.crash();
  outbox.reset();

  outbox = open(disk, random);
  EXPECT_EQ(outbox->epoch(), epoch);
  EXPECT_EQ(bodies(*outbox), std::vector<std::string>{R"({"body":"two"})"});
  EXPECT_EQ(*outbox->add(text("three")), epoch + "-3");
}

TEST_F(OutboxFileTest, SyncedMessagesSurviveAPowerCut) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    MemoryDirectory fresh;
    SeededRandom chance{seed};
    auto outbox = open(fresh, chance, SyncOn::EachAdd);
    const auto count = chance.below(5);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(outbox->add(text("synced")));
    fresh.cut_power(chance);
    outbox.reset();
    outbox = open(fresh, chance);
    EXPECT_EQ(outbox->size(), count) << "seed " << seed;
    EXPECT_EQ(outbox->recovery().damaged_bytes, 0U);
  }
}

TEST_F(OutboxFileTest, DurableNumberIsNeverReused) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    MemoryDirectory fresh;
    SeededRandom chance{seed};
    std::map<std::string, std::string> transmitted;
    for (int life = 0; life < 4; ++life) {
      auto outbox = open(fresh, chance);
      for (int i = 0; i < 6; ++i) {
        const auto id = outbox->add(text(format("life {} text {}", life, i)));
        if (!id) continue;
        if (chance.below(2) == 0 && outbox->make_durable()) {
          for (const auto* e = outbox->after(0); e != nullptr; e = outbox->after(e->number)) {
            const auto [sent, is_new] = transmitted.emplace(e->id, e->message.payload);
            EXPECT_EQ(sent->second, e->message.payload) << "seed " << seed << " " << e->id;
          }
          if (chance.below(2) == 0) outbox->answered(outbox->after(0)->id);
        }
        if (chance.below(8) == 0) fresh.fail_appends = 1;
        if (chance.below(8) == 0) fresh.fail_syncs = 1;
      }
      fresh.fail_appends = fresh.fail_syncs = 0;
      if (chance.below(2) == 0)
        fresh.cut_power(chance);
      else
        fresh.crash();
    }
  }
}

TEST_F(OutboxFileTest, OneSyncServesManyMessages) {
  auto outbox = open(disk, random);
  const auto before = disk.syncs;
  for (int i = 0; i < 100; ++i) (void)outbox->add(text("x"));
  EXPECT_EQ(disk.syncs, before);
  EXPECT_TRUE(outbox->make_durable());
  EXPECT_TRUE(outbox->make_durable());
  EXPECT_EQ(disk.syncs, before + 1);
}

TEST_F(OutboxFileTest, FullDiskRefusesOnlyTheNewMessage) {
  auto outbox = open(disk, random);
  const auto epoch = outbox->epoch();
  (void)outbox->add(text("one"));
  disk.fail_appends = 1;
  EXPECT_FALSE(outbox->add(text("lost")));
  EXPECT_EQ(*outbox->add(text("two")), epoch + "-2");
  disk.crash();
  outbox.reset();
  outbox = open(disk, random);
  EXPECT_EQ(bodies(*outbox), (std::vector<std::string>{R"({"body":"one"})", R"({"body":"two"})"}));
}

TEST_F(OutboxFileTest, FileDoesNotGrowWithHistory) {
  auto outbox = open(disk, random);
  for (int i = 0; i < 20'000; ++i) {
    const auto id = outbox->add(text(std::string(100, 'x')));
    ASSERT_TRUE(id);
    outbox->answered(*id);
    ASSERT_LT(disk.bytes("outbox")->size(), kRewriteSlackBytes + 64 * 1024);
  }
}

TEST_F(OutboxFileTest, RewriteKeepsNumbersAnsweredOutOfOrder) {
  auto outbox = open(disk, random);
  const auto epoch = outbox->epoch();
  for (int i = 0; i < 5; ++i) (void)outbox->add(text(format("{}", i + 1)));
  for (const auto n : {2, 3, 5}) outbox->answered(outbox_id(epoch, static_cast<std::uint64_t>(n)));
  disk.fail_appends = 1;
  EXPECT_FALSE(outbox->add(text("no room")));
  EXPECT_TRUE(outbox->make_durable());  // rewrites
  disk.crash();
  outbox.reset();
  outbox = open(disk, random);
  EXPECT_EQ(outbox->recovery().damaged_bytes, 0U);
  EXPECT_EQ(bodies(*outbox), (std::vector<std::string>{R"({"body":"1"})", R"({"body":"4"})"}));
  EXPECT_EQ(*outbox->add(text("6")), epoch + "-6");
}

TEST_F(OutboxFileTest, DamagedEntryIsReportedAndItsNumberSent) {
  auto outbox = open(disk, random);
  for (const auto* body : {"one", "two", "three"}) (void)outbox->add(text(body));
  disk.crash();
  outbox.reset();
  auto& bytes = *disk.bytes("outbox");
  bytes[bytes.find("two")] = 'T';
  outbox = open(disk, random);
  EXPECT_GT(outbox->recovery().damaged_bytes, 50U);
  EXPECT_EQ(bodies(*outbox), (std::vector<std::string>{R"({"body":"one"})", "lost", R"({"body":"three"})"}));
}

TEST_F(OutboxFileTest, ForeignFileIsQuarantined) {
  {
    auto file = disk.create("outbox");
    (void)(*file)->append("my shopping list\n");
  }
  auto outbox = open(disk, random);
  EXPECT_EQ(outbox->recovery().damaged_bytes, 17U);
  EXPECT_EQ(*disk.bytes("outbox.damaged"), "my shopping list\n");
  EXPECT_TRUE(outbox->add(text("fine")));
}

TEST_F(OutboxFileTest, IsLockedToOneProgram) {
  const auto outbox = open(disk, random);
  const auto second = Outbox::open(disk, "outbox", {}, SyncOn::EachAdd, random);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find("another program"), std::string::npos);
}

}  // namespace
}  // namespace relay::client
