/// `agent-relay chat --name NAME`
#include "cli/chat/chat.h"

#include <limits>

#include "cli/commands/commands.h"
#include "cli/framework/invocation.h"
#include "cli/wire/names.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

ExitCode run(const Invocation& invocation, Context& context) {
  ChatOptions options;
  options.name = RELAY_CLI_USAGE(sender_name(invocation, "--name", context));
  options.to = invocation.value("--to").value_or("");
  if (invocation.has("--to")) RELAY_CLI_USAGE(check_recipient(options.to));
  options.listen_only = invocation.has("--listen");
  options.json = invocation.has("--json");
  options.count = RELAY_CLI_USAGE(invocation.number("--count", 1, std::numeric_limits<std::int64_t>::max(), 0));
  return run_chat(options, context);
}

constexpr Option kOptions[] = {
    {.name = "--name", .value = "NAME", .description = "who you are; default $AGENT_RELAY_NAME, $USER or human"},
    {.name = "--to",
     .value = "NAME",
     .description = "to whom lines without @NAME go",
     .completes = CompletionKind::Agents},
    {.name = "--listen", .description = "only print what arrives; do not read stdin"},
    {.name = "--count", .value = "N", .description = "end after N messages have arrived"},
    {.name = "--json", .description = "print one JSON object per line"},
};

}  // namespace

const Command kChat = {
    .name = "chat",
    .group = Group::Everyday,
    .usage = "chat",
    .summary = "join the conversation from here",
    .hint = "[--name]",
    .options = kOptions,
    .example = "agent-relay chat --name Alice --to Bob",
    .details =
        "A line `@Bob hello` goes to Bob, as do those after it; `@* hello` to everyone; /help and /quit are\n"
        "the chat's own. At a terminal the line is edited as in a shell (arrows, Home, End, Ctrl-A E K U W Y R, words "
        "by\n"
        "Alt-B and Alt-F, Up for earlier lines, Alt-Enter for a line end; a paste of several lines is one message), "
        "Tab\n"
        "completes names, messages appear above the line, and who wrote to you last is answered without `@`: the name\n"
        "before the line says who gets it. The first line to somebody who waits for an answer (`send --ask`) is that "
        "answer.\n"
        "A line that went wrong is the exit code when the lines come from a file or a pipe.\n"
        "What you type has your authority, whatever --name says; answers go to that name.\n"
        "What is typed while the daemon is away is kept on disk and sent when it is back.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
