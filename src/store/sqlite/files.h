/// The files of a database, through the SQLite file system that holds them. Private to src/store.
///
/// A file that the store did not write is renamed, never overwritten: `<name>.damaged-<UTC time>`, with its log
/// (`-wal`, `-shm`) beside it so that the three can still be opened together. The newest kMaxQuarantined of each file
/// are kept.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace relay::store {

inline constexpr std::size_t kMaxQuarantined = 8;  // of each file

/// Size of a file; 0 when it does not exist.
std::uint64_t file_bytes(const std::string& path, const std::string& vfs);

/// The file starts like a database, or is empty and has no log. Called before SQLite opens the files, because SQLite
/// would replay or delete the log.
bool looks_like_database(const std::string& path, const std::string& vfs);

/// Creates a missing file readable by the owner only, and narrows the permissions of others. No effect in a test file
/// system.
void restrict_permissions(const std::string& path, const std::string& vfs);

/// Renames database and log; returns the new name. The log goes first: SQLite would replay it into the new database.
Result<std::string> quarantine(const std::string& path, const std::string& vfs, WallMs now);

Result<void> copy_file(const std::string& from, const std::string& to, const std::string& vfs);
/// Deletes a database that the caller made, with the files beside it.
void remove_database(const std::string& path, const std::string& vfs);

/// Marks damage found at run time in a file beside the database, so that the next start checks all pages of any size.
void mark_suspect(const std::string& path, const std::string& vfs);
bool is_suspect(const std::string& path, const std::string& vfs);
void clear_suspect(const std::string& path, const std::string& vfs);

}  // namespace relay::store
