/// Reads the intact records of a journal segment, however damaged it is. Private to src/store.
///
/// Each record has its number and a checksum under the segment's seed, so the scan recognizes a record at any offset:
///   damaged bytes lose the records that contain them and none behind them.
/// Threading: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "store/journal/format.h"
#include "store/message_store.h"

namespace relay::store {

struct ScannedRecord {
  RecordFrame frame{};
  std::string_view body;
  [[nodiscard]] CommitNumber last() const { return frame.first + frame.commits - 1; }
  /// The position after this record.
  [[nodiscard]] JournalReach reach() const { return {last(), frame.messages_before + frame.messages}; }
};

struct ScannedSegment {
  std::vector<ScannedRecord> records;  // numbers grow; bodies point into the scanned bytes
  CommitNumber broken_at = 0;          // the commit expected at the first bytes that are not a record; 0: none
  bool displaced = false;              // that commit follows those bytes, which no crash can cause
};

/// Either intact copy; empty when both are damaged.
std::optional<SegmentHeader> read_header(std::string_view file);

ScannedSegment scan_segment(const SegmentHeader& header, std::string_view file);

}  // namespace relay::store
