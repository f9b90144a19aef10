/// What can be read in a segment of the journal, however damaged it is. Private to src/store.
///
/// Each record carries its number and a checksum under the segment's seed, so a record is recognised wherever it stands:
///   damaged bytes cost the records they are in and none behind them.
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
  /// What a reader has after it.
  [[nodiscard]] JournalReach reach() const { return {last(), frame.messages_before + frame.messages}; }
};

struct ScannedSegment {
  std::vector<ScannedRecord> records;  // numbers grow; bodies point into the scanned bytes
  CommitNumber broken_at = 0;          // the commit that should stand where bytes between two of them are no record
  bool displaced = false;              // and it stands behind those bytes, which no crash leaves
};

/// Either copy that is whole; nothing when none is.
std::optional<SegmentHeader> read_header(std::string_view file);

ScannedSegment scan_segment(const SegmentHeader& header, std::string_view file);

}  // namespace relay::store
