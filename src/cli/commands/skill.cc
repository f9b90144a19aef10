/// `agent-relay skill`
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "host/instructions.h"

namespace relay::cli {
namespace {

ExitCode run(const Invocation&, Context&) {
  print(host::skill_text());
  return ExitCode::Ok;
}

}  // namespace

const Command kSkill = {
    .name = "skill",
    .group = Group::Plumbing,
    .usage = "skill",
    .summary = "print the instructions for agents to message others",
    .example = "agent-relay skill >> AGENTS.md",
    .run = run,
};

}  // namespace relay::cli
