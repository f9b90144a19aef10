/// Changes as bytes, for the journal of commits: short, exact, the same on every machine.
///
/// Numbers are varints (signed ones zigzag), text is its length and its bytes, a list its count and its members, an
/// optional one byte and perhaps a value, a structure its fields in the order they are declared. A change begins with
/// its place in `records::Change`.
/// The bytes outlive the program that wrote them (it may be killed and come back as a later version): whoever changes
/// a record raises kChangeFormat and keeps reading the formats before it. A test holds the bytes of each change.
/// Bytes that nobody of us wrote are refused with a sentence, never trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "records/changes.h"

namespace relay::records {

inline constexpr std::uint8_t kChangeFormat = 2;

/// Appends them, their count in front.
void encode(const Changes& changes, std::string& to);

/// Takes one such list from the front of `bytes`.
Result<Changes> decode_changes(std::string_view& bytes);

}  // namespace relay::records
