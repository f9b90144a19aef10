/// A batch of changes written to SQLite by the store's worker; instructions of SQLite included.
#include "net/testing/temporary_directory.h"
#include "paths.h"
#include "prose.h"
#include "store/sqlite/store.h"
#include "store/testing/sample_records.h"

namespace relay::cost {
namespace {

constexpr std::size_t kBodyBytes = 1024;
constexpr std::int64_t kBatchMessages = 100;

struct DiskStore {
  net::testing::TemporaryDirectory directory;
  std::unique_ptr<store::SqliteStore> store;  // destroyed before its directory
};

/// A hundred messages from Alice to Bob. Every other one is delivered in the same commit, the rest in the next one, as
/// under load.
records::Changes batch(std::int64_t first) {
  using store::sample::change;
  records::Changes changes;
  for (auto number = first; number < first + kBatchMessages; ++number) {
    const auto key = 2 * number;  // of the message; its delivery has the next
    const auto count = static_cast<std::uint64_t>(number);
    for (auto& part : store::sample::direct(key, "Alice", "Bob", prose(kBodyBytes, count), count))
      changes.push_back(std::move(part));
    const auto arrived = number % 2 == 0 ? number : number - kBatchMessages;
    changes.emplace_back(change(2 * arrived + 1, records::DeliveryState::Delivered));
  }
  return changes;
}

}  // namespace

Workload prepare_store() {
  auto disk = std::make_unique<DiskStore>();
  auto opened =
      store::SqliteStore::open({.path = disk->directory.file("relay.db"), .durability = store::Durability::Process});
  RELAY_ASSERT(opened);
  disk->store = *std::move(opened);
  std::vector<records::Changes> batches{batch(1), batch(1 + kBatchMessages)};
  return [disk = std::move(disk), batches = std::move(batches), next = std::size_t{0}]() mutable {
    RELAY_ASSERT(store::sample::commit(*disk->store, batches.at(next++)));
    return static_cast<std::uint64_t>(kBatchMessages);
  };
}

}  // namespace relay::cost
