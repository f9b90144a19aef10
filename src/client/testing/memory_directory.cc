#include "client/testing/memory_directory.h"

#include "base/format.h"

namespace relay::client::testing {
namespace {

Failure no_space(std::string_view doing) { return fail_errno(doing, ENOSPC); }

}  // namespace

class MemoryDirectory::File final : public AppendFile {
 public:
  File(MemoryDirectory& owner, std::shared_ptr<Inode> inode) : owner_{owner}, inode_{std::move(inode)} {}

  Result<void> append(std::string_view bytes) override {
    RELAY_ASSERT(life_ == owner_.life_);
    if (owner_.fail_appends > 0) {
      --owner_.fail_appends;
      inode_->written.append(bytes.substr(0, bytes.size() / 2));
      return no_space("cannot write the file");
    }
    inode_->written.append(bytes);
    return {};
  }
  Result<void> sync() override {
    RELAY_ASSERT(life_ == owner_.life_);
    if (owner_.fail_syncs > 0) {
      --owner_.fail_syncs;
      return no_space("cannot sync the file");
    }
    ++owner_.syncs;
    inode_->synced = inode_->written;
    return {};
  }

 private:
  MemoryDirectory& owner_;
  std::shared_ptr<Inode> inode_;
  int life_ = owner_.life_;
};

class MemoryDirectory::Lock final : public DirectoryLock {
 public:
  Lock(MemoryDirectory& owner, std::string name) : owner_{owner}, name_{std::move(name)} {}
  ~Lock() override { owner_.locks_.erase(name_); }

 private:
  MemoryDirectory& owner_;
  std::string name_;
};

Result<std::optional<std::string>> MemoryDirectory::read(const std::string& name, std::size_t max_bytes) {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::optional<std::string>{};
  if (found->second->written.size() > max_bytes) return fail(format("{} is too large", name));
  return std::optional{found->second->written};
}

Result<std::unique_ptr<AppendFile>> MemoryDirectory::open_append(const std::string& name) {
  const auto found = names_.find(name);
  if (found == names_.end()) return fail_errno(format("cannot open {}", name), ENOENT);
  return std::make_unique<File>(*this, found->second);
}

Result<std::unique_ptr<AppendFile>> MemoryDirectory::create(const std::string& name) {
  auto& inode = names_[name];
  inode = std::make_shared<Inode>();
  return std::make_unique<File>(*this, inode);
}

Result<void> MemoryDirectory::replace(const std::string& name, const std::string& with) {
  const auto found = names_.find(with);
  if (found == names_.end()) return fail_errno(format("cannot replace {}", name), ENOENT);
  names_[name] = found->second;
  names_.erase(with);
  return {};
}

Result<void> MemoryDirectory::sync() {
  synced_names_ = names_;
  return {};
}

Result<std::unique_ptr<DirectoryLock>> MemoryDirectory::lock(const std::string& name) {
  if (!locks_.insert(name).second)
    return fail(LockErrc::Held, format("{} is held by another program; only one may use it", name));
  return std::make_unique<Lock>(*this, name);
}

void MemoryDirectory::cut_power(Random& random) {
  crash();
  // A rename that was not synced may or may not have reached the disk, whole.
  if (random.below(2) == 0) names_ = synced_names_;
  for (auto& [name, inode] : names_) {
    const auto unsynced = inode->written.size() - inode->synced.size();
    auto survived = inode->synced.size() + random.below(unsynced + 1);
    inode->written.resize(survived);
    if (survived > inode->synced.size() && random.below(2) == 0) inode->written.back() = '\0';
    inode->synced = inode->written;
  }
  synced_names_ = names_;
}

std::string* MemoryDirectory::bytes(const std::string& name) {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second->written;
}

}  // namespace relay::client::testing
