/// The files behind a database, through whichever SQLite file system holds them. Private to src/store.
///
/// A file that is not what we wrote is moved aside under a name nobody else has, never overwritten; of those moved aside
/// earlier the newest kMaxQuarantined stay: `<name>.damaged-<UTC time>`, its log (`-wal`, `-shm`) beside it so that the three can still be opened together.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace relay::store {

inline constexpr std::size_t kMaxQuarantined = 8;  // of each file

/// Size of a file; 0 when it does not exist.
std::uint64_t file_bytes(const std::string& path, const std::string& vfs);

/// Does the file begin as a database does? A new (empty) one does, unless a log without it says otherwise. Asked
/// before SQLite sees the files, which would replay or delete the log.
bool looks_like_database(const std::string& path, const std::string& vfs);

/// Makes sure a new database begins owner-only, and narrows one that is not. Nothing for a file system of our own.
void restrict_permissions(const std::string& path, const std::string& vfs);

/// Moves database and log aside; returns the new name. The log goes first: left behind, it would be replayed into the
/// fresh database.
Result<std::string> quarantine(const std::string& path, const std::string& vfs, WallMs now);

Result<void> copy_file(const std::string& from, const std::string& to, const std::string& vfs);
/// Deletes a database of our own making with all that lies beside it.
void remove_database(const std::string& path, const std::string& vfs);

/// Damage met during work is remembered beside the file, so that the next start looks closely even at a large file.
void mark_suspect(const std::string& path, const std::string& vfs);
bool is_suspect(const std::string& path, const std::string& vfs);
void clear_suspect(const std::string& path, const std::string& vfs);

}  // namespace relay::store
