/// A conversation at the keyboard: what is typed goes out through the durable outbox, what arrives is printed once.
///
/// At a terminal a greeting says who you are and how to speak, and a slip of the fingers is told and forgotten; from a
///   pipe or a file the same slip is how the chat ends, so that a script hears of it.
/// Invariants: input pauses while kMaxUnanswered messages wait for the daemon; when input ends the chat ends once the
///   daemon has answered everything.
/// Threading: one thread, its own loop.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/framework/context.h"
#include "cli/framework/exit_code.h"

namespace relay::cli {

struct ChatOptions {
  std::string name;
  std::string to;            // to whom a line without @NAME goes at first; may be empty
  bool listen_only = false;  // stdin is not read
  bool json = false;
  std::int64_t count = 0;  // end after that many messages arrived; 0: never
};

ExitCode run_chat(const ChatOptions& options, const Context& context);

}  // namespace relay::cli
