/// Requests and responses of the host socket, as values. docs/spec/host.md describes them.
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
inline constexpr std::size_t kMaxFetch = 100;  // messages in one response

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
  std::string data = {};                 // raw bytes
  std::vector<terminal::Key> keys = {};  // encoded for the program's terminal modes
  std::string text = {};                 // pasted and submitted
};
/// The interrupt key of the program, as its profile has it.
struct Interrupt {};
struct ReleaseAgent {
  std::string reason = {};
  std::string by = "human";  // or `api`, or an agent's name
};

/// A hook call of the agent. The response follows when the adapter has one or releases the hook.
struct HookCall {
  hooks::HookEvent event = {};
};
/// Reads or takes the agent's pending messages.
struct FetchMessages {
  bool take = false;
  std::size_t limit = kMaxFetch;
  std::vector<std::string> ids = {};  // empty: any
};
struct ListPrompts {};
struct AnswerPrompt {
  std::string prompt = {};  // its short id or its request id
  adapters::PromptAnswer reply = {};
  std::string by = "human";  // or `policy`, or an agent's name
  bool timed_out = false;    // denied because no answer came
};
/// No rule decides that prompt: the agent may show its own dialog.
struct ShowDialog {
  std::string prompt = {};
};

using RequestParams = std::variant<Describe, Explain, Watch, ShowScreen, Attach, Resize, Input, Interrupt, ReleaseAgent,
                                   HookCall, FetchMessages, ListPrompts, AnswerPrompt, ShowDialog>;

struct Request {
  std::string method;
  std::string id;  // may be empty
  RequestParams params;
};

/// The error message is for the client.
Result<Request> parse_request(std::string_view json);

}  // namespace relay::host
