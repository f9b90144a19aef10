#include "store/journal/mark.h"

#include "store/journal/format.h"
#include "store/sqlite/files.h"

namespace relay::store {

std::optional<JournalMark> JournalMarkFile::read() const {
  if (file_bytes(path_, vfs_) < sizeof(MarkBytes)) return std::nullopt;
  const auto file = VfsFile::open(path_, vfs_, VfsFile::Mode::Read);
  std::string bytes(sizeof(MarkBytes), '\0');
  if (!file || (*file)->read(0, bytes).value_or(0) != bytes.size()) return std::nullopt;
  MarkBytes mark{};
  std::memcpy(&mark, bytes.data(), sizeof mark);
  if (std::memcmp(mark.magic, kMarkMagic, sizeof kMarkMagic) != 0 || mark.check != check_of(mark)) return std::nullopt;
  return JournalMark{mark.id, mark.epoch, {mark.commits, mark.messages}};
}

Result<void> JournalMarkFile::write(const JournalMark& mark) {
  if (file_ == nullptr) {
    restrict_permissions(path_, vfs_);
    file_ = RELAY_TRY(VfsFile::open(path_, vfs_, VfsFile::Mode::Write));
  }
  MarkBytes bytes{.magic = {},
                  .id = mark.id,
                  .epoch = mark.epoch,
                  .commits = mark.reach.commits,
                  .messages = mark.reach.messages,
                  .check = 0};
  std::memcpy(bytes.magic, kMarkMagic, sizeof kMarkMagic);
  bytes.check = check_of(bytes);
  return file_->write(0, bytes_of(bytes));
}

}  // namespace relay::store
