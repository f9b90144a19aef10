// Journal files modified by another program, and foreign records: both are read as far as they are valid, then refused
// with an error.
//
// The first byte chooses: changes as raw bytes; or edits to a small valid journal (2 bytes of offset, one value).
#include <cstdint>
#include <string>

#include "check.h"
#include "records/change_codec.h"
#include "store/journal/journal.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"

namespace {

using namespace relay;
using namespace relay::store;

constexpr std::uint64_t kId = 7;
constexpr std::size_t kMaxEdits = 64;
const std::string kFile = "db-commits0";

Journal::Options options(const SimDisk& disk) { return {.database = "db", .vfs = disk.vfs(), .id = kId}; }

std::string valid_journal() {
  SimDisk disk;
  const auto journal =
      Journal::open(options(disk), [](JournalReach, const records::Changes&) { return Result<void>{}; });
  for (std::int64_t key = 1; key < 8; key += 2) {
    std::string record(Journal::kFrameBytes, '\0');
    records::encode(sample::direct(key, "Alice", "Bob", "a"), record);
    records::encode({sample::change(key + 1, records::DeliveryState::Delivered)}, record);
    FUZZ_CHECK((*journal)->append(record, 2));
  }
  return *disk.read(kFile);
}

void read_changes(std::string_view bytes) {
  const auto changes = records::decode_changes(bytes);
  if (!changes) {
    FUZZ_CHECK(!changes.error().message().empty());
    return;
  }
  std::string again;
  records::encode(*changes, again);
  std::string_view left = again;
  const auto second = records::decode_changes(left);
  FUZZ_CHECK(second && left.empty());
  std::string third;
  records::encode(*second, third);
  FUZZ_CHECK(third == again);
}

void read_journal(std::string_view edits) {
  static const std::string valid = valid_journal();
  std::string bytes = valid;
  for (std::size_t edit = 0; edit < kMaxEdits && edits.size() >= 3; ++edit, edits.remove_prefix(3)) {
    const auto where = static_cast<std::uint8_t>(edits[0]) * 256u + static_cast<std::uint8_t>(edits[1]);
    if (edits[2] == 0)
      bytes.resize(where % (bytes.size() + 1));
    else if (!bytes.empty())
      bytes[where % bytes.size()] = static_cast<char>(bytes[where % bytes.size()] ^ edits[2]);
  }
  SimDisk disk;
  disk.put(kFile, bytes);
  CommitNumber last = 0;
  const auto journal = Journal::open(options(disk), [&](JournalReach place, const records::Changes&) {
    FUZZ_CHECK(place.commits > last);  // damage costs the commits it is in, none behind it
    last = place.commits;
    return Result<void>{};
  });
  FUZZ_CHECK(last <= 8);
  if (!journal) {
    FUZZ_CHECK(!journal.error().message().empty());
    return;
  }
  std::string record(Journal::kFrameBytes, '\0');
  records::encode({}, record);
  FUZZ_CHECK((*journal)->append(record, 1) && (*journal)->newest() == last + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest{reinterpret_cast<const char*>(data) + 1, size - 1};
  if (data[0] % 2 == 0)
    read_changes(rest);
  else
    read_journal(rest);
  return 0;
}
