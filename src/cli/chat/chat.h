/// An interactive chat: lines are sent through the durable outbox, every received message is printed once.
///
/// On a terminal it prints a greeting, and a wrong line only prints its error; from a pipe or a file the error also becomes
///   the exit code, for scripts.
/// Invariants: input pauses while kMaxUnanswered messages wait for the daemon; after the end of input the chat ends when
///   the daemon has answered every message.
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
  std::string to;            // the first recipient of lines without @NAME; may be empty
  bool listen_only = false;  // stdin is not read
  bool json = false;
  std::int64_t count = 0;  // exits after that many messages; 0: never
};

ExitCode run_chat(const ChatOptions& options, const Context& context);

}  // namespace relay::cli
