/// Prompts that an agent reports through its PermissionRequest hook, while that hook is connected.
///
/// Invariants: each hook gets at most one response, and each prompt ends once: by `answer`, by the user (the hook
///   disconnected, or its dialog closed), or by the timeout or `release`, after which the agent shows its dialog.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "adapters/adapter.h"
#include "net/event_loop.h"

namespace relay::adapters {

class HookPrompts {
 public:
  /// Without a timeout a hook stays open as long as its agent allows.
  explicit HookPrompts(std::optional<Millis> timeout) : timeout_{timeout} {}

  void start(net::EventLoop& loop, Listener& listener) { loop_ = &loop, listener_ = &listener; }
  void set_timeout(std::optional<Millis> timeout) { timeout_ = timeout; }

  void open(const hooks::HookEvent& event, std::uint64_t call, Adapter::HookReply reply);
  Result<void> answer(const std::string& prompt, const PromptAnswer& answer);
  /// The hook returns without a decision, so that the agent shows its own dialog.
  void release(const std::string& prompt);
  void on_hook_closed(std::uint64_t call);
  void on_state(profiles::State state);

 private:
  struct Open {
    std::uint64_t call = 0;
    Prompt prompt = {};
    hooks::HookEvent event = {};
    Adapter::HookReply reply = {};
    bool on_screen = false;  // its dialog is
    std::unique_ptr<net::Timer> timer = {};
  };

  void end(std::list<Open>::iterator open, const hooks::HookResponse& response, const PromptOutcome& outcome);

  std::optional<Millis> timeout_;
  net::EventLoop* loop_ = nullptr;
  Listener* listener_ = nullptr;
  std::list<Open> open_;
  profiles::State state_ = profiles::State::Unknown;
  std::uint64_t last_ = 0;
};

/// The prompt in a PermissionRequest: a permission, or a question, which the agent puts with a tool.
Prompt parse_prompt(const hooks::HookEvent& event);

/// The answer in the format of the hook; an error if it does not fit the prompt.
Result<hooks::HookResponse> make_response(const hooks::HookEvent& event, const Prompt& prompt,
                                          const PromptAnswer& answer);

}  // namespace relay::adapters
