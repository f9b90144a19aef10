#include "tests/simulation/observed_store.h"

#include <utility>

#include "records/change_codec.h"

namespace relay::simulation {
namespace {

Result<void> disk_full() { return fail(store::Errc::Full, "the disk is full"); }

std::string encoded(const records::Change& change) {
  std::string bytes;
  records::encode({change}, bytes);
  return bytes;
}

}  // namespace

Result<void> ObservedStore::watched(Result<void> result) {
  if (!result) failed_ = true;
  return result;
}

Result<void> ObservedStore::begin(store::CommitDurability durability) {
  group_.clear();
  journaled_in_group_ = 0;
  return watched(real_->begin(durability));
}

Result<void> ObservedStore::apply(const records::Change& change) {
  if (fails_now()) return watched(disk_full());
  if (journaled_in_group_ < journaled_.size() && journaled_[journaled_in_group_] == encoded(change))
    ++journaled_in_group_;
  else
    group_.emplace_back(change);
  return watched(real_->apply(change));
}

Result<records::ExpireResult> ObservedStore::expire(const records::ExpireRequest& request) {
  auto result = real_->expire(request);
  if (result)
    group_.emplace_back(*result);
  else
    failed_ = true;
  return result;
}

void ObservedStore::rollback() {
  journaled_in_group_ = 0;
  real_->rollback();
}

void ObservedStore::on_journaled(const records::Changes& changes) {
  for (const auto& change : changes) journaled_.push_back(encoded(change));
  observer_.on_durable(StoreChanges{changes.begin(), changes.end()});
}

Result<void> ObservedStore::commit() {
  if (fails_now()) return watched(disk_full());
  const bool breaks = before_commit_ && !group_.empty();
  if (breaks) std::exchange(before_commit_, nullptr)();
  auto committed = watched(real_->commit());
  if (committed) {
    journaled_.erase(journaled_.begin(), journaled_.begin() + static_cast<std::ptrdiff_t>(journaled_in_group_));
    journaled_in_group_ = 0;
    if (!group_.empty()) observer_.on_durable(group_);
  } else if (breaks) {
    observer_.on_doubt(group_);
  }
  if (breaks) std::exchange(after_commit_, nullptr)();
  return committed;
}

}  // namespace relay::simulation
