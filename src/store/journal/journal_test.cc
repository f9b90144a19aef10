#include "store/journal/journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "base/hash.h"
#include "base/random.h"
#include "records/change_codec.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

std::string record_of(const std::vector<std::string>& names) {
  std::string bytes(Journal::kFrameBytes, '\0');
  for (const auto& name : names) encode({JoinChannel{{name, AgentName{"A"}}}}, bytes);
  return bytes;
}

class JournalTest : public testing::Test {
 protected:
  /// Reopens the journal and records the commits that it replays.
  void open(CommitNumber applied = 0, std::uint64_t id = 7, bool power_lost = false) {
    replayed.clear();
    journal.reset();
    auto opened = Journal::open(
        {.database = "db", .vfs = disk->vfs(), .id = id, .applied = {.commits = applied}, .power_lost = power_lost},
        [&](JournalReach reach, Changes changes) -> Result<void> {
          replayed.push_back(format("{} {}", reach.commits, std::get<JoinChannel>(changes.at(0)).membership.channel));
          return {};
        });
    ASSERT_TRUE(opened) << opened.error().message();
    journal = *std::move(opened);
  }
  Result<void> append(const std::vector<std::string>& names) {
    auto record = record_of(names);
    return journal->append(record, static_cast<std::uint32_t>(names.size()));
  }
  /// Appends until a new segment is started.
  void fill_segment() {
    const auto first = journal->newest_segment();
    while (journal->newest_segment() == first || journal->newest() < first)
      ASSERT_TRUE(append({std::string(Journal::kSegmentBytes / 3, 'x')}));
  }

  std::unique_ptr<SimDisk> disk = std::make_unique<SimDisk>();
  std::unique_ptr<Journal> journal;
  std::vector<std::string> replayed;
};

using Replayed = std::vector<std::string>;

TEST_F(JournalTest, ReplaysUnappliedCommitsInOrder) {
  open();
  EXPECT_EQ(replayed, Replayed{});
  ASSERT_TRUE(append({"#a", "#b"}));
  ASSERT_TRUE(append({"#c"}));
  EXPECT_EQ(journal->newest(), 3u);
  open();
  EXPECT_EQ(replayed, (Replayed{"1 #a", "2 #b", "3 #c"}));
  open(1);
  EXPECT_EQ(replayed, (Replayed{"2 #b", "3 #c"})) << "a record may be applied in part";
  open(3);
  EXPECT_EQ(replayed, Replayed{});
}

TEST_F(JournalTest, ContinuesBehindReplayedCommits) {
  open();
  ASSERT_TRUE(append({"#a"}));
  open();
  ASSERT_TRUE(append({"#b"}));
  open(1);
  EXPECT_EQ(replayed, Replayed{"2 #b"});
}

TEST_F(JournalTest, SyncedRecordSurvivesPowerCutAndRecordsAreAtomic) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random{seed};
    disk = std::make_unique<SimDisk>();
    open();
    ASSERT_TRUE(append({"#a", "#b"}));
    ASSERT_TRUE(journal->sync());
    ASSERT_TRUE(append({"#c", std::string(3'000, 'd')}));
    disk->crash(random);
    open();
    ASSERT_GE(replayed.size(), 2u);
    EXPECT_EQ(replayed.at(1), "2 #b");
    EXPECT_TRUE(replayed.size() == 2 || replayed.size() == 4);
    journal.reset();
  }
}

TEST_F(JournalTest, RolledBackRecordIsNeverReplayed) {
  open();
  ASSERT_TRUE(append({"#a"}));
  ASSERT_TRUE(journal->sync());
  ASSERT_TRUE(append({"#b"}));
  ASSERT_TRUE(append({"#c"}));
  disk->fail_next_syncs(1);
  EXPECT_FALSE(journal->sync());
  EXPECT_EQ(journal->newest(), 1u);
  ASSERT_TRUE(append({"#B"}));  // as long as the one before: the bytes behind that one are still in the file
  open();
  EXPECT_EQ(replayed, (Replayed{"1 #a", "2 #B"}));
}

TEST_F(JournalTest, FullDiskFailsAppendAndLaterOnesSucceed) {
  open();
  ASSERT_TRUE(append({"#a"}));
  disk->set_full(true);
  const auto refused = append({"#b"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(is(refused.error(), Errc::Full)) << refused.error().message();
  disk->set_full(false);
  ASSERT_TRUE(append({"#c"}));
  open();
  EXPECT_EQ(replayed, (Replayed{"1 #a", "2 #c"}));
}

TEST_F(JournalTest, FileIsReusedAfterItsCommitsAreApplied) {
  open();
  for (int round = 0; round < 12; ++round) {
    fill_segment();
    journal->mark_applied(journal->newest());
  }
  EXPECT_LE(disk->files().size(), 3u);
  const auto before = journal->newest();
  ASSERT_TRUE(append({"#last"}));
  open(before);
  EXPECT_EQ(replayed, Replayed{format("{} #last", before + 1)}) << "records of an earlier use are not replayed";
}

TEST_F(JournalTest, FileIsNotReusedBeforeItIsMarkedApplied) {
  open();
  for (int round = 0; round < 4; ++round) fill_segment();
  const auto newest = journal->newest();
  open();
  EXPECT_EQ(replayed.size(), newest);
}

TEST_F(JournalTest, ReadsUnappliedCommits) {
  open();
  ASSERT_TRUE(append({"#a", "#b"}));
  ASSERT_TRUE(append({"#c"}));
  std::vector<CommitNumber> read;
  ASSERT_TRUE(journal->read(1, [&](JournalReach reach, const Changes&) -> Result<void> {
    read.push_back(reach.commits);
    return {};
  }));
  EXPECT_EQ(read, (std::vector<CommitNumber>{2, 3}));
}

TEST_F(JournalTest, FilesOfAnotherStoreAreQuarantined) {
  open();
  ASSERT_TRUE(append({"#a"}));
  open(0, 8);
  EXPECT_EQ(replayed, Replayed{});
  EXPECT_NE(journal->damage().message().find("belongs to another message store"), std::string::npos);
  EXPECT_TRUE(std::ranges::any_of(disk->files(), [](const auto& name) { return name.find("damaged") != name.npos; }));
}

TEST_F(JournalTest, CommitsBehindGapAreNotReplayed) {
  open();
  fill_segment();
  fill_segment();
  // The machine went down, and the database lost commits whose journal files were reused.
  const auto newest = journal->newest();
  journal->mark_applied(newest);
  fill_segment();
  ASSERT_TRUE(journal->mark_safe());
  open(0, 7, true);
  EXPECT_TRUE(replayed.empty() || replayed.front().starts_with("1 "));
  for (std::size_t at = 0; at < replayed.size(); ++at) EXPECT_TRUE(replayed[at].starts_with(format("{} ", at + 1)));
  EXPECT_NE(journal->damage().message().find("does not continue"), std::string::npos);
}

TEST_F(JournalTest, JournalOfNewerVersionStaysUnchanged) {
  open();
  ASSERT_TRUE(append({"#a"}));
  auto bytes = *disk->read("db-commits0");
  journal.reset();
  for (const auto copy : {std::size_t{0}, kHeaderCopyAt}) {
    bytes[copy + 8] = 99;  // its format
    const auto check = checksum(std::string_view{bytes}.substr(copy, 64));
    std::memcpy(bytes.data() + copy + 64, &check, sizeof check);
  }
  disk->put("db-commits0", bytes);
  const auto opened = Journal::open({.database = "db", .vfs = disk->vfs(), .id = 7},
                                    [](JournalReach, const Changes&) { return Result<void>{}; });
  ASSERT_FALSE(opened);
  EXPECT_TRUE(is(opened.error(), Errc::Newer));
  EXPECT_EQ(disk->read("db-commits0"), bytes);
}

TEST_F(JournalTest, DiscardDeletesFiles) {
  open();
  ASSERT_TRUE(append({"#a"}));
  journal->discard();
  EXPECT_TRUE(disk->files().empty());
}

TEST_F(JournalTest, DamagedRecordIsCountedAndLaterOnesAreReplayed) {
  open();
  for (const char* name : {"#a", "#b", "#c", "#d"}) {
    auto record = record_of({name});
    ASSERT_TRUE(journal->append(record, 1, 1));
    ASSERT_TRUE(journal->mark_safe());
  }
  journal.reset();
  const auto whole = *disk->read("db-commits0");
  const auto mark = *disk->read("db-reached");
  const auto record_bytes = record_of({"#a"}).size();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    disk = std::make_unique<SimDisk>();
    auto bytes = whole;
    bytes[at] ^= 0x20;
    disk->put("db-commits0", bytes);
    disk->put("db-reached", mark);
    open();
    if (at < kHeaderBytes) {
      EXPECT_EQ(replayed.size(), 4u) << "one copy of the header is whole, damage at " << at;
      EXPECT_FALSE(journal->damage().found());
      continue;
    }
    const auto damaged = (at - kHeaderBytes) / record_bytes;
    Replayed expected{"1 #a", "2 #b", "3 #c", "4 #d"};
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(damaged));
    ASSERT_EQ(replayed, expected) << "damage at " << at;
    EXPECT_EQ(journal->damage().lost_messages, 1u) << "damage at " << at;
    EXPECT_EQ(journal->damage().files.size(), 1u);
    EXPECT_EQ(disk->read(journal->damage().files.at(0)), bytes) << "quarantined unchanged";
    EXPECT_EQ(journal->newest(), 4u) << "numbers are not reused";
  }
}

TEST_F(JournalTest, CutRemovedOrEmptiedJournalIsCounted) {
  open();
  for (int count = 0; count < 4; ++count) {
    auto record = record_of({"#a"});
    ASSERT_TRUE(journal->append(record, 1, 2));
    ASSERT_TRUE(journal->mark_safe());
  }
  journal.reset();
  const auto whole = *disk->read("db-commits0");
  const auto mark = *disk->read("db-reached");
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    disk = std::make_unique<SimDisk>();
    if (size > 0) disk->put("db-commits0", whole.substr(0, size));
    disk->put("db-reached", mark);
    open();
    EXPECT_EQ(journal->damage().lost_messages, 2 * (4 - replayed.size())) << "cut at " << size;
    EXPECT_EQ(journal->damage().found(), replayed.size() < 4);
    EXPECT_EQ(journal->newest(), 4u);
  }
  disk = std::make_unique<SimDisk>();
  disk->put("db-reached", mark);
  open(4);
  EXPECT_FALSE(journal->damage().found()) << "the store has every commit";
}

TEST_F(JournalTest, TornTailThatWasNeverAcknowledgedIsNoLoss) {
  open();
  ASSERT_TRUE(append({"#a"}));
  ASSERT_TRUE(journal->sync());
  const auto safe = disk->read("db-commits0")->size();
  ASSERT_TRUE(append({"#b"}));
  ASSERT_TRUE(append({"#c"}));
  journal.reset();
  auto bytes = *disk->read("db-commits0");
  bytes[safe + 50] ^= 1;  // of the second; the third is intact, but not acknowledged either
  disk->put("db-commits0", bytes);
  open();
  EXPECT_EQ(replayed, Replayed{"1 #a"});
  EXPECT_FALSE(journal->damage().found()) << journal->damage().message();
  ASSERT_TRUE(append({"#B"}));
  ASSERT_TRUE(journal->mark_safe());
  open(1);
  EXPECT_EQ(replayed, Replayed{"2 #B"}) << "a dropped commit is not replayed behind its replacement";
}

TEST_F(JournalTest, RecordBehindForeignBytesIsReportedAsDamageOnce) {
  open();
  ASSERT_TRUE(append({"#a"}));
  ASSERT_TRUE(journal->sync());
  const auto safe = disk->read("db-commits0")->size();
  ASSERT_TRUE(append({"#b"}));  // never acknowledged
  journal.reset();
  auto bytes = *disk->read("db-commits0");
  bytes.insert(safe, "foreign");
  disk->put("db-commits0", bytes);
  open();
  EXPECT_EQ(replayed, (Replayed{"1 #a", "2 #b"}));
  EXPECT_TRUE(journal->damage().found());
  EXPECT_EQ(journal->damage().lost_messages, 0u);
  open(2);
  EXPECT_FALSE(journal->damage().found()) << journal->damage().message();
}

TEST_F(JournalTest, AnyBytesAreReadOrSkipped) {
  SeededRandom random{1};
  open();
  ASSERT_TRUE(append({"#a", "#b"}));
  ASSERT_TRUE(append({"#c"}));
  const auto whole = *disk->read("db-commits0");
  for (int round = 0; round < 300; ++round) {
    auto bytes = whole.substr(0, random.below(whole.size() + 1));
    if (!bytes.empty() && random.below(2) == 0)
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 + random.below(255));
    journal.reset();
    disk->put("db-commits0", bytes);
    open();
    EXPECT_LE(replayed.size(), 3u);
  }
}

}  // namespace
}  // namespace relay::store
