/// What is said at a host's door, as values. docs/spec/host.md is the page for people.
///
/// A frame holds a JSON object, or terminal bytes behind the byte 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adapters/prompt.h"
#include "base/result.h"
#include "hooks/event.h"
#include "host/control/terminal_frame.h"
#include "pty/window_size.h"
#include "terminal/keys.h"

namespace relay::host {

inline constexpr std::size_t kMaxRequestBytes = 1 << 20;
inline constexpr std::size_t kMaxFetch = 100;  // letters in one answer

struct Describe {};
struct Explain {};
struct Watch {};
struct ShowScreen {
  bool ansi = false;
};
struct Attach {
  bool drive = false;
  pty::WindowSize size = {};
};
struct Resize {
  pty::WindowSize size = {};
};
/// One of the three.
struct Input {
  std::string data = {};                 // bytes as they are
  std::vector<terminal::Key> keys = {};  // pressed as the program wants them
  std::string text = {};                 // words: pasted and entered
};
/// The key by which this program stops what it does, whichever that is.
struct Interrupt {};
struct ReleaseAgent {
  std::string reason = {};
  std::string by = "human";  // or `api`, or an agent's name
};

/// The agent's own hook system calls; answered when there is something to say, or nothing will be.
struct HookCall {
  hooks::HookEvent event = {};
};
/// What waits for the agent: to look at, or to take away.
struct FetchMessages {
  bool take = false;
  std::size_t limit = kMaxFetch;
  std::vector<std::string> ids = {};  // none: any
};
struct ListPrompts {};
struct AnswerPrompt {
  std::string prompt = {};  // its short id, or the request's
  adapters::PromptAnswer reply = {};
  std::string by = "human";  // or `policy`, or an agent's name
  bool timed_out = false;    // denied because nobody answered
};
/// No rule decides that prompt: the agent's own dialog does.
struct ShowDialog {
  std::string prompt = {};
};

using RequestParams = std::variant<Describe, Explain, Watch, ShowScreen, Attach, Resize, Input, Interrupt, ReleaseAgent,
                                   HookCall, FetchMessages, ListPrompts, AnswerPrompt, ShowDialog>;

struct Request {
  std::string method;  // `do`
  std::string id;      // may be empty
  RequestParams params;
};

/// The error is a sentence for whoever asked.
Result<Request> parse_request(std::string_view json);

}  // namespace relay::host
