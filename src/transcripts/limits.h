/// What an agent's record may cost us. Every field of an Entry keeps to these; what is longer is cut, and says so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relay::transcripts {

inline constexpr std::size_t kMaxLine = 16U << 20;            // of a record; a longer line is left out and reported
inline constexpr std::size_t kMaxText = 4U << 20;             // what the agent said, or was given
inline constexpr std::size_t kMaxToolText = 64U << 10;        // what a tool was given, or answered
inline constexpr std::size_t kMaxWord = 256;                  // ids, names, types
inline constexpr std::size_t kMaxEntriesPerLine = 10'000;     // blocks of one line; Gemini writes whole conversations
inline constexpr std::size_t kRemembered = 65'536;            // ids a reader knows again: more than one line can repeat
inline constexpr std::int64_t kMaxCount = 1'000'000'000'000;  // tokens

}  // namespace relay::transcripts
