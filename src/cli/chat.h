/// A conversation at the keyboard: what is typed goes out through the durable outbox, what arrives is printed once.
///
/// Invariants: input pauses while kMaxUnanswered messages wait for the daemon; when input ends the chat ends once the
///   daemon has answered everything.
/// Threading: one thread, its own loop.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/context.h"
#include "cli/exit_code.h"

namespace relay::cli {

struct ChatOptions {
  std::string name;
  std::string to;            // to whom a line without @NAME goes at first; may be empty
  bool listen_only = false;  // stdin is not read
  bool json = false;
  std::int64_t count = 0;  // end after that many messages arrived; 0: never
};

ExitCode run_chat(const ChatOptions& options, const Context& context);

/// `@Bob hello` → Bob, hello. No name when the line does not begin with one.
struct Addressed {
  std::string to;
  std::string text;
};
Addressed split_address(std::string_view line);

}  // namespace relay::cli
