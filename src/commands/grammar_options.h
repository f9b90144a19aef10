/// How the grammar is set: which prefixes count, how much may be held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relay::commands {

inline constexpr std::size_t kMaxLineBytes = 1024 * 1024;   // of a longer line only this much is looked at
inline constexpr std::size_t kMaxBodyBytes = 768 * 1024;    // a body has to fit a frame, escaped
inline constexpr std::size_t kMaxBlockBytes = 1024 * 1024;  // between [[RELAY]] and [[/RELAY]]
inline constexpr std::size_t kMaxBlockLines = 16 * 1024;
inline constexpr std::size_t kMaxTargetBytes = 256;

/// One pair of prefixes: `@relay:` to speak, `@thinking:` to think aloud. Either may be empty.
struct PrefixPair {
  std::string relay;
  std::string thinking;
};

/// What the text is: markdown as the model wrote it, or rows of a screen, where renderers have changed some marks.
enum class Surface : std::uint8_t { Markdown, Screen };

struct GrammarOptions {
  std::vector<PrefixPair> prefixes = {
      {"@relay:", "@thinking:"}, {">>relay:", ">>thinking:"}, {"->relay:", "->thinking:"}};
  Surface surface = Surface::Markdown;
  bool inline_form = true;
  bool block_form = true;
  std::size_t max_body_bytes = kMaxBodyBytes;
  std::size_t max_block_bytes = kMaxBlockBytes;
};

}  // namespace relay::commands
