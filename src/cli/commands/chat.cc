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
    {.name = "--name", .value = "NAME", .description = "your name; default $AGENT_RELAY_NAME, $USER or human"},
    {.name = "--to",
     .value = "NAME",
     .description = "the recipient of lines without @NAME",
     .completes = CompletionKind::Agents},
    {.name = "--listen", .description = "only print messages; do not read stdin"},
    {.name = "--count", .value = "N", .description = "exit after N messages"},
    {.name = "--json", .description = "print one JSON object per line"},
};

}  // namespace

const Command kChat = {
    .name = "chat",
    .group = Group::Everyday,
    .usage = "chat",
    .summary = "join the conversation from this terminal",
    .hint = "[--name]",
    .options = kOptions,
    .example = "agent-relay chat --name Alice --to Bob",
    .details =
        "`@Bob hello` sends hello to Bob, and the lines after it go to Bob as well; `@* hello` goes to every agent;\n"
        "/help and /quit are commands of the chat. On a terminal the line is edited as in a shell (arrows, Home, End,\n"
        "Ctrl-A E K U W Y R, words with Alt-B and Alt-F, Up for earlier lines, Alt-Enter for a line break; several\n"
        "pasted lines are one message), Tab completes names, and messages appear above the line. The name before the\n"
        "line is its recipient: the one you addressed last, or the last one who wrote to you. The first line to an\n"
        "agent that waits for an answer (`send --ask`) is that answer. When the lines come from a file or a pipe, a\n"
        "failed line sets the exit code.\n"
        "What you type has your authority under any --name; replies go to that name. Lines typed while the daemon is\n"
        "down are stored on disk and sent when it runs again.",
    .needs_daemon = true,
    .run = run,
};

}  // namespace relay::cli
