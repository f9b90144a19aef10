/// How a message looks when it is put before an agent, and how to know such text again.
///
/// Why always our header: an agent must be able to trust it. A body that begins like a header is put in quotes; nothing
///   in a body, a name or a tag can end a line, a paste or the header itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relay::speech {

struct InjectedMessage {
  std::string from = {};
  std::string id = {};  // its first 8 characters are shown
  std::string body = {};
  std::string thread = {};                      // none: empty
  std::optional<std::int64_t> importance = {};  // above 50 `[!]`, above 75 `[!!]`
  std::string to = {};                          // as it was addressed: `*` and `#channel` are shown
  std::vector<std::string> attachments = {};    // paths
};

inline constexpr std::string_view kInjectedWord = "Relay message from ";

/// `Relay message from Alice [abc12345] [thread:x] [!!] [#general] [Attachments: a, b]: the text`, one line.
std::string injection_text(const InjectedMessage& message);

/// Does the line, after what may decorate it, begin as injected text does? Echoes of it are not speech.
bool is_injected_line(std::string_view line);

}  // namespace relay::speech
