/// The format of the outbox file: parsing and writing, no I/O.
///
///   file    = record*
///   record  = length check JSON '\n'      length: of the JSON, 8 hex digits and a blank
///                                         check: first 8 hex digits of the JSON's SHA-256 and a blank
///   first   = {"epoch":E,"first":F}       all numbers below F were answered
///   message = {"n":N,"epoch":E,"type":T,"to":..,"topic":..,"payload":{..},"payload_meta":{..}}
///   lost    = {"n":N,"epoch":E,"lost":true}   its content was damaged; only the number is left
///   answer  = {"answered":N}
///
/// Numbers of messages ascend by one. Reading never fails: bytes that are not a record are skipped to the next line end
/// and counted. Bytes without a valid record behind them are a torn tail (a crash during an append; never transmitted,
/// since transmission waits for the sync); other damaged bytes yield as many lost numbers as they could have contained:
/// too many only costs refusals, too few would use a number twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/outbox.h"

namespace relay::client {

inline constexpr std::size_t kRecordHeadBytes = 18;
inline constexpr std::size_t kMinMessageRecordBytes = 64;  // the shortest one: head, number, epoch, type, payload
inline constexpr std::size_t kMaxEpochBytes = 64;

void append_first_record(std::string& out, std::string_view epoch, std::uint64_t first);
void append_message_record(std::string& out, std::string_view epoch, const OutboxEntry& entry);
void append_answer_record(std::string& out, std::uint64_t number);

struct OutboxImage {
  std::string epoch;                    // empty: no record has it, the file is unusable
  std::uint64_t next = 1;               // the first number never used
  std::vector<OutboxEntry> unanswered;  // ascending, without gaps in the numbers that were not answered
  std::size_t torn_bytes = 0;
  std::size_t damaged_bytes = 0;
};

OutboxImage parse_outbox(std::string_view file);

/// `<epoch>-<n>`.
std::string outbox_id(std::string_view epoch, std::uint64_t number);

}  // namespace relay::client
