/// The text form of a message that is injected into an agent, and how such text is recognized.
///
/// Why always with a header: the agent must be able to trust it, and text that starts with it is not a command of any
///   agent. A body that contains text like a header is quoted; no part of a body, a name or a tag can end a line,
///   a paste or the header itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relay::commands {

/// A file that comes with a message, by reference.
struct AttachedFile {
  std::string name = {}, path = {};
  std::uint64_t bytes = 0;
  std::string media_type = {};  // as the sender declares it; may be empty
};

struct InjectedMessage {
  std::string from = {};
  std::string id = {};  // its first 8 characters are used
  std::string body = {};
  std::string thread = {};                      // may be empty
  std::string kind = {};                        // written unless it is `message`
  std::string topic = {};                       // none: empty
  std::string reply_to = {};                    // the id of the message it answers; none: empty
  std::optional<std::int64_t> importance = {};  // above 50 `[!]`, above 75 `[!!]`
  std::string to = {};                          // as addressed: `*` and `#channel` are written
  std::vector<std::string> attachments = {};    // paths, as published clients attach them
  std::vector<AttachedFile> files = {};
  bool answer_expected = false;  // the sender blocks on an answer
  bool as_user = false;          // from the user, not from another agent
};

inline constexpr std::string_view kInjectedPrefix = "Relay message from ";  // of a peer
inline constexpr std::string_view kUserPrefix = "Message from your user ";  // of the user
inline constexpr std::string_view kHeaderPrefixes[] = {kInjectedPrefix, kUserPrefix};

/// Does the text start with one of the header prefixes?
bool is_injected_text(std::string_view text);

/// `Relay message from Alice [abc12345] [kind:action] [topic:deploys] [reply:def67890] [thread:x] [!!] [#general]
/// [Attachments: a, b]: the text`, one line; then one for each file, `(attached: report.txt, 12 KB: /path)`, and
/// `(answer expected: write to Alice with [thread:x])`.
std::string format_injected(const InjectedMessage& message);

/// ` [kind:action] [topic:deploys] [reply:def67890]`, each where set; empty for an ordinary message.
std::string header_tags(std::string_view kind, std::string_view topic, std::string_view reply_to);

/// ` [!]` above 50, ` [!!]` above 75, else empty.
std::string_view importance_tag(std::optional<std::int64_t> importance);

/// `(attached: report.txt, 12 KB: /path)`, one line for any content.
std::string attached_line(const AttachedFile& file);

/// Does the line, after its lead-in, start like injected text? Echoes of injected text are not output of the
/// agent.
bool is_injected_line(std::string_view line);

}  // namespace relay::commands
