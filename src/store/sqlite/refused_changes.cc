#include "store/sqlite/refused_changes.h"

#include <algorithm>
#include <cstring>

#include "records/change_codec.h"
#include "store/journal/format.h"
#include "store/sqlite/files.h"

namespace relay::store {
namespace {

using namespace records;

/// Before each change, which is a list of one in the journal's encoding.
struct RefusedFrame {
  char magic[8];
  std::uint64_t check;    // of the change
  std::uint32_t bytes;    // of the change
  std::uint32_t applied;  // kApplied: the database has it
};
constexpr std::string_view kRefusedMagic{"ARLYRFSD", 8};
constexpr std::uint32_t kApplied = 0x454e'4f44;  // a single flipped bit cannot turn 0 into it

}  // namespace

Result<void> RefusedChanges::open() {
  if (file_ != nullptr) return {};
  restrict_permissions(path_, vfs_);
  file_ = RELAY_TRY(VfsFile::open(path_, vfs_, VfsFile::Mode::Write));
  return {};
}

Result<void> RefusedChanges::load() {
  if (file_bytes(path_, vfs_) == 0) return {};
  RELAY_TRY(open());
  std::string bytes(std::min(file_->size(), kMaxBytes), '\0');
  bytes.resize(RELAY_TRY(file_->read(0, bytes)));
  const std::string_view all{bytes};
  for (auto at = all.find(kRefusedMagic); at != all.npos; at = all.find(kRefusedMagic, at)) {
    RefusedFrame frame{};
    const bool is_whole = all.size() - at >= sizeof frame;
    if (is_whole) std::memcpy(&frame, all.data() + at, sizeof frame);
    const auto body = is_whole ? all.substr(at + sizeof frame, frame.bytes) : std::string_view{};
    if (!is_whole || body.size() != frame.bytes || frame.check != checksum(body)) {
      ++at;
      continue;
    }
    auto rest = body;
    auto changes = decode_changes(rest);
    if (changes && changes->size() == 1 && frame.applied != kApplied) {
      remember(changes->front());
      changes_.push_back({at, frame.check, std::move(changes->front())});
    }
    at += sizeof frame + body.size();
  }
  return {};
}

void RefusedChanges::remember(const Change& change) {
  if (const auto* add = std::get_if<AddMessage>(&change)) messages_.insert(add->message.key);
  if (const auto* add = std::get_if<AddDelivery>(&change)) deliveries_.insert(add->delivery.key);
}

bool RefusedChanges::has_base_of(const Change& change) const {
  if (changes_.empty()) return false;
  if (const auto* add = std::get_if<AddDelivery>(&change)) return messages_.contains(add->delivery.message);
  if (const auto* later = std::get_if<ChangeDelivery>(&change)) return deliveries_.contains(later->key);
  const auto* again = std::get_if<RequeueDelivery>(&change);
  return again != nullptr && deliveries_.contains(again->key);
}

Result<RefusedChanges::KeepResult> RefusedChanges::keep(const Change& change) {
  std::string record(sizeof(RefusedFrame), '\0');
  encode({change}, record);
  const auto body = std::string_view{record}.substr(sizeof(RefusedFrame));
  RefusedFrame frame{
      .magic = {}, .check = checksum(body), .bytes = static_cast<std::uint32_t>(body.size()), .applied = 0};
  if (std::ranges::find(changes_, frame.check, &RefusedChange::check) != changes_.end()) return KeepResult::Duplicate;
  RELAY_TRY(open());
  const auto at = file_->size();
  if (at + record.size() > kMaxBytes) return KeepResult::Full;
  kRefusedMagic.copy(frame.magic, sizeof frame.magic);
  std::memcpy(record.data(), &frame, sizeof frame);
  RELAY_TRY(file_->write(at, record));
  RELAY_TRY(file_->sync());
  remember(change);
  changes_.push_back({at, frame.check, change});
  return KeepResult::Added;
}

Result<std::size_t> RefusedChanges::retry(const std::function<Result<bool>(const Change&)>& apply) {
  if (changes_.empty()) return 0;
  const auto before = changes_.size();
  auto all = std::exchange(changes_, {});
  messages_.clear();
  deliveries_.clear();
  Result<void> done;
  for (auto& one : all) {
    bool is_applied = false;
    if (done && !has_base_of(one.change)) {
      const auto applied = apply(one.change);
      if (!applied) done = Failure{applied.error()};
      is_applied = applied && *applied;
    }
    if (is_applied) {
      // A mark that a crash loses is written again: the next retry finds the change in the database.
      const auto marked = file_->write(one.at + offsetof(RefusedFrame, applied), bytes_of(kApplied));
      if (done) done = marked;
      continue;
    }
    remember(one.change);
    changes_.push_back(std::move(one));
  }
  RELAY_TRY(done);
  if (changes_.empty()) {
    file_.reset();
    delete_file(path_, vfs_);
  } else {
    RELAY_TRY(file_->sync());
  }
  return before - changes_.size();
}

}  // namespace relay::store
