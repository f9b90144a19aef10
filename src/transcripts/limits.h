/// Bounds for transcripts. Every field of an Entry is within them; a longer one is cut and marked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relay::transcripts {

inline constexpr std::size_t kMaxLine = 16U << 20;            // of a transcript; a longer line is skipped and reported
inline constexpr std::size_t kMaxText = 4U << 20;             // output or input of the model
inline constexpr std::size_t kMaxToolText = 64U << 10;        // input or output of a tool
inline constexpr std::size_t kMaxWord = 256;                  // ids, names, types
inline constexpr std::size_t kMaxEntriesPerLine = 10'000;     // blocks of one line; Gemini writes whole conversations
inline constexpr std::size_t kMaxRememberedIds = 65'536;      // ids a reader recognizes: more than one line can repeat
inline constexpr std::int64_t kMaxCount = 1'000'000'000'000;  // tokens

}  // namespace relay::transcripts
