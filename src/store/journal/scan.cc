#include "store/journal/scan.h"

#include <algorithm>

namespace relay::store {
namespace {

std::optional<SegmentHeader> header_at(std::string_view file, std::size_t at) {
  if (file.size() < at + sizeof(SegmentHeader)) return std::nullopt;
  SegmentHeader header{};
  std::memcpy(&header, file.data() + at, sizeof header);
  if (std::memcmp(header.magic, kJournalMagic, sizeof kJournalMagic) != 0 || header.check != check_of(header))
    return std::nullopt;
  return header;
}

/// A record at this offset, whose number is not below `next`. Most offsets are rejected by the number alone.
std::optional<ScannedRecord> record_at(std::string_view file, std::size_t at, CommitNumber next, std::uint64_t seed) {
  if (file.size() < at + sizeof(RecordFrame)) return std::nullopt;
  ScannedRecord record;
  std::memcpy(&record.frame, file.data() + at, sizeof record.frame);
  const auto& frame = record.frame;
  // A segment has fewer records than bytes.
  if (frame.first < next || frame.first - next > file.size() || frame.acknowledged >= frame.first || frame.commits == 0)
    return std::nullopt;
  if (frame.bytes == 0 || frame.bytes > file.size() - at - sizeof frame) return std::nullopt;
  const auto whole = file.substr(at, sizeof frame + frame.bytes);
  if (frame.check != checksum(whole.substr(kUncheckedBytes), seed)) return std::nullopt;
  record.body = whole.substr(sizeof frame);
  return record;
}

}  // namespace

std::optional<SegmentHeader> read_header(std::string_view file) {
  const auto first = header_at(file, 0);
  return first ? first : header_at(file, kHeaderCopyAt);
}

ScannedSegment scan_segment(const SegmentHeader& header, std::string_view file) {
  ScannedSegment found;
  CommitNumber next = header.first;
  std::size_t end = kHeaderBytes;  // of the last record
  for (std::size_t at = end; at < file.size();) {
    const auto record = record_at(file, at, next, header.seed);
    if (!record) {
      ++at;
      continue;
    }
    if (found.broken_at == 0 && (at != end || record->frame.first != next)) {
      found.broken_at = next;
      found.displaced = record->frame.first == next;
    }
    next = record->last() + 1;
    at = end = at + sizeof(RecordFrame) + record->body.size();
    found.records.push_back(*record);
  }
  return found;
}

}  // namespace relay::store
