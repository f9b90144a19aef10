/// damage_test: see README.md.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/format.h"
#include "base/log.h"
#include "base/random.h"
#include "damage_kinds.h"
#include "store/journal/recovery.h"
#include "store/testing/sample_records.h"
#include "victim.h"

namespace relay::damage {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDamagesPerKill = 10;

struct ReadResult {
  std::set<std::int64_t> intact;  // messages with their delivery
  store::Damage damage;
};

/// Opens the store, reads everything, stores one more message.
Result<ReadResult> open_and_read(const std::string& directory, store::Durability durability, const Stored& stored) {
  const auto options = options_of(directory, durability);
  auto store = RELAY_TRY(store::SqliteStore::open(options));
  const auto journal = RELAY_TRY(store::recover_journal(*store, options));
  ReadResult found;
  found.damage.add(store->damage());
  found.damage.add(journal->damage());
  const auto state = RELAY_TRY(store->load());
  for (std::int64_t before = INT64_MAX; before > 0;) {
    const auto rows = RELAY_TRY(store->messages(store::sample::QueryBuilder{}.limit(100'000).before(before)));
    before = 0;
    for (const auto& row : rows) {
      before = row.message.key.value();
      if (row.message.payload.find("\"after\"") != std::string::npos) continue;  // of an earlier call
      if (before > stored.last_sent) return fail(format("message {} was never sent", before));
      if (row.message.payload.find(format("\"{}\"", body_of(before))) == std::string::npos)
        return fail(format("message {} is damaged and was not detected", before));
      if (row.deliveries > 0) found.intact.insert(before);
    }
  }
  const auto key = state.newest.value() + 1;
  RELAY_TRY(store::sample::commit(*store, store::sample::direct(key, "Alice", "Bob", "after", 1)));
  return found;
}

Result<void> check(const std::string& directory, store::Durability durability, const Stored& stored, bool damaged) {
  const auto found = RELAY_TRY(open_and_read(directory, durability, stored));
  std::uint64_t missing = 0;
  for (const auto key : stored.acknowledged) missing += found.intact.contains(key) ? 0u : 1u;
  if (missing > found.damage.lost_messages)
    return fail(format("{} acknowledged messages are missing, reported: {} ({})", missing, found.damage.lost_messages,
                       found.damage.message()));
  if (!damaged && found.damage.found()) return fail("damage reported for intact files: " + found.damage.message());
  const auto again = RELAY_TRY(open_and_read(directory, durability, stored));
  if (again.damage.found()) return fail("damage reported twice: " + again.damage.message());
  if (again.intact != found.intact) return fail("messages are missing after a second opening");
  return {};
}

Result<void> run_round(const std::string& directory, std::uint64_t seed, std::size_t damages) {
  SeededRandom random{seed};
  const auto durability = random.below(2) == 0 ? store::Durability::Process : store::Durability::Power;
  const auto live = directory + "/live", copy = directory + "/copy";
  fs::remove_all(live);
  fs::create_directories(live);
  auto stored = RELAY_TRY(store_and_kill(live, durability, 0, 1 + random.below(150)));
  const auto old = read_files(live);
  if (random.below(3) > 0) {
    const auto more = RELAY_TRY(store_and_kill(live, durability, stored.last_sent + 2, 1 + random.below(300)));
    stored.acknowledged.insert(more.acknowledged.begin(), more.acknowledged.end());
    stored.last_sent = more.last_sent;
  }
  const auto killed = read_files(live);
  write_files(copy, killed);
  RELAY_TRY(check(copy, durability, stored, false));
  for (std::size_t damage = 0; damage < damages; ++damage) {
    auto files = killed;
    const auto what = damage_one(files, old, random);
    write_files(copy, files);
    if (const auto done = check(copy, durability, stored, true); !done)
      return fail(format("seed {}: {}: {}", seed, what, done.error().message()));
  }
  return {};
}

}  // namespace
}  // namespace relay::damage

int main(int argc, char** argv) {
  using namespace relay;
  std::uint64_t damages = 100, seed = SystemRandom{}.below(1'000'000);
  for (int at = 1; at + 1 < argc; at += 2) {
    const std::string_view name{argv[at]};
    if (name == "--damages") damages = std::strtoull(argv[at + 1], nullptr, 10);
    if (name == "--seed") seed = std::strtoull(argv[at + 1], nullptr, 10);
  }
  std::string directory = (std::filesystem::temp_directory_path() / "relay-damage-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) return 2;
  std::uint64_t done = 0, failed = 0;
  for (auto round = seed; done < damages; ++round) {
    const auto count = std::min<std::uint64_t>(damage::kDamagesPerKill, damages - done);
    if (const auto result = damage::run_round(directory, round, count); !result) {
      std::fputs((result.error().message() + "\n").c_str(), stdout);
      ++failed;
    }
    done += count;
  }
  std::fputs(format("{} damages from seed {}: {}\n", done, seed,
                    failed == 0 ? "every acknowledged message exists or is counted" : "FAILED")
                 .c_str(),
             stdout);
  std::filesystem::remove_all(directory);
  return failed == 0 ? 0 : 1;
}
