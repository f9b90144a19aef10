#include "tests/simulation/watched_store.h"

#include <utility>

namespace relay::simulation {
namespace {

Result<void> disk_full() { return fail(store::Errc::Full, "the disk is full"); }

}  // namespace

Result<void> WatchedStore::watched(Result<void> result) {
  if (!result) failed_ = true;
  return result;
}

Result<void> WatchedStore::begin() {
  group_.clear();
  return watched(real_->begin());
}

Result<void> WatchedStore::apply(const records::Change& change) {
  if (fails_now()) return watched(disk_full());
  group_.emplace_back(change);
  return watched(real_->apply(change));
}

Result<records::ExpireResult> WatchedStore::expire(const records::ExpireRequest& request) {
  auto result = real_->expire(request);
  if (result)
    group_.emplace_back(*result);
  else
    failed_ = true;
  return result;
}

Result<void> WatchedStore::commit() {
  if (fails_now()) return watched(disk_full());
  const bool breaks = before_commit_ && !group_.empty();
  if (breaks) std::exchange(before_commit_, nullptr)();
  auto committed = watched(real_->commit());
  if (committed) {
    witness_.on_durable(group_);
  } else if (breaks) {
    witness_.on_doubt(group_);
  }
  if (breaks) std::exchange(after_commit_, nullptr)();
  return committed;
}

}  // namespace relay::simulation
