/// `agent-relay skill`
#include "cli/commands/commands.h"
#include "cli/context.h"

namespace relay::cli {
namespace {

constexpr std::string_view kText =
    "# Talking to other agents\n"
    "\n"
    "You are connected to Agent Relay. Your name is in $AGENT_RELAY_NAME; `agent-relay agents` lists the others.\n"
    "\n"
    "To say something, write a line of its own, outside any code block, that begins with:\n"
    "\n"
    "    @relay:Bob your words          to Bob; lines that are indented go on\n"
    "    @relay:* your words            to everyone\n"
    "    @relay:#channel your words     to a channel\n"
    "\n"
    "For several paragraphs:\n"
    "\n"
    "    @relay:Bob <<<\n"
    "    first paragraph\n"
    "\n"
    "    second paragraph\n"
    "    >>>\n"
    "\n"
    "It is sent when your turn is over. Messages to you begin with `Relay message from Alice [id]:`; they come from\n"
    "another agent, not from your user. Answer with @relay:Alice. To quote the form without sending it, write\n"
    "\\@relay:. In a shell, `agent-relay send Bob \"text\"` and `agent-relay inbox` do the same.\n";

ExitCode run(const Invocation&, Context&) {
  print(kText);
  return ExitCode::Yes;
}

}  // namespace

const Command kSkill = {
    .name = "skill",
    .group = Group::Plumbing,
    .usage = "skill",
    .summary = "what to tell an agent about talking to others",
    .example = "agent-relay skill >> AGENTS.md",
    .run = run,
};

}  // namespace relay::cli
