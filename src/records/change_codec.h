/// Changes as bytes, for the journal of commits: short, exact, the same on every machine.
///
/// Numbers are varints (signed ones zigzag). A string is its length and its bytes, a list its count and its members, an
/// optional one byte and perhaps a value, a structure its fields in declaration order. A change starts with its index
/// in `records::Change`. The bytes outlive the program that wrote them (it may be killed and restarted as a later
/// version). A change to a record therefore raises kChangeFormat, and the reader keeps reading the older formats. A
/// test holds the bytes of each change. Bytes that this program did not write are refused with an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/changes.h"

namespace relay::records {

inline constexpr std::uint8_t kChangeFormat = 2;

/// Appends the changes, preceded by their count.
void encode(const Changes& changes, std::string& to);

/// Takes one such list from the front of `bytes`.
Result<Changes> decode_changes(std::string_view& bytes);

}  // namespace relay::records
