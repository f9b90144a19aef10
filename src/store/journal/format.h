/// The bytes of the journal's files and of the mark beside them, shared by writer and reader. docs/spec/store.md
/// describes them in prose. Private to src/store.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/hash.h"

namespace relay::store {

static_assert(std::endian::native == std::endian::little, "the files hold numbers in memory order");

inline constexpr std::uint64_t kJournalFormat = 2;
inline constexpr char kJournalMagic[8] = {'A', 'R', 'L', 'Y', 'C', 'M', 'T', 'S'};
inline constexpr char kMarkMagic[8] = {'A', 'R', 'L', 'Y', 'M', 'A', 'R', 'K'};

/// At the front of a segment, twice: one damaged sector does not lose the records behind it.
struct SegmentHeader {
  char magic[8];
  std::uint64_t format;
  std::uint64_t id;     // of the store
  std::uint64_t epoch;  // grows with each opening; records of an earlier epoch do not continue those of a later one
  std::uint64_t first;  // number of its first commit
  std::uint64_t acknowledged;  // newest commit acknowledged when the segment was started
  std::uint64_t messages;      // in all commits before it
  std::uint64_t seed;   // of its records' checksums; random, so bytes of an earlier use of the file are not records
  std::uint64_t check;  // checksum of the fields before it
};
inline constexpr std::size_t kHeaderCopyAt = 512;
inline constexpr std::size_t kHeaderBytes = 1024;

/// Before each record. Its checksum covers the rest of the frame and the record.
struct RecordFrame {
  std::uint64_t check;
  std::uint64_t first;            // number of its first commit
  std::uint64_t acknowledged;     // newest commit acknowledged when the record was written
  std::uint64_t messages_before;  // in all commits before it
  std::uint32_t bytes;            // of the record
  std::uint32_t commits;
  std::uint32_t messages;  // in its commits
  std::uint32_t unused;
};
inline constexpr std::size_t kUncheckedBytes = sizeof(std::uint64_t);  // of a frame: the checksum itself

/// The newest acknowledged commit.
struct MarkBytes {
  char magic[8];
  std::uint64_t id;
  std::uint64_t epoch;
  std::uint64_t commits;
  std::uint64_t messages;
  std::uint64_t check;
};

/// The bytes of a structure except the last `without`.
template <class T>
std::string_view bytes_of(const T& value, std::size_t without = 0) {
  return {reinterpret_cast<const char*>(&value), sizeof(T) - without};
}

/// For a structure that ends with its checksum.
template <class T>
std::uint64_t check_of(const T& value) {
  return checksum(bytes_of(value, sizeof(std::uint64_t)));
}

}  // namespace relay::store
