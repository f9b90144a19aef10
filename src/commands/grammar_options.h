/// The options of the grammar: prefixes and limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relay::commands {

inline constexpr std::size_t kMaxLineBytes = 1024 * 1024;   // of a longer line only this part is read
inline constexpr std::size_t kMaxBodyBytes = 768 * 1024;    // a body must fit a frame, escaped
inline constexpr std::size_t kMaxBlockBytes = 1024 * 1024;  // between [[RELAY]] and [[/RELAY]]
inline constexpr std::size_t kMaxBlockLines = 16 * 1024;
inline constexpr std::size_t kMaxTargetBytes = 256;

/// One pair of prefixes: `@relay:` for messages, `@thinking:` for thoughts. Either may be empty.
struct PrefixPair {
  std::string relay;
  std::string thinking;
};

/// The kind of text: markdown as the model wrote it, or rows of a screen, where renderers change some marks.
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
