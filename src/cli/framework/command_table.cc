#include <array>

#include "cli/commands/commands.h"
#include "cli/framework/command.h"

namespace relay::cli {
namespace {

constexpr std::array kTable = {
    &kUp,     &kDown,       &kRun,      &kSend,    &kInbox,       &kLog,        &kRead,   &kChat,
    &kStatus, &kAgents,     &kSpawn,    &kExplain, &kAttach,      &kInput,      &kWait,   &kRelease,
    &kPause,  &kUnpause,    &kFlush,    &kDead,    &kPermissions, &kApprove,    &kDeny,   &kQuestions,
    &kAnswer, &kTrace,      &kEvents,   &kCost,    &kSearch,      &kDoctor,     &kBench,  &kConfig,
    &kReload, &kWorkspaces, &kChannels, &kTopics,  &kPolicy,      &kLoops,      &kCancel, &kSkill,
    &kHooks,  &kMcp,        &kExtract,  &kHook,    &kOpenApi,     &kCompletion,
};

}  // namespace

std::string_view title_of(Group group) {
  switch (group) {
    case Group::Everyday: return "everyday";
    case Group::Agents: return "agents";
    case Group::Steering: return "steering";
    case Group::Knowing: return "looking around";
    case Group::More: return "more";
    case Group::Plumbing: return "plumbing";
  }
  return "";
}

std::span<const Command* const> command_table() { return kTable; }

const Command* find_command(std::string_view name) {
  for (const auto* command : kTable)
    if (command->name == name) return command;
  return nullptr;
}

}  // namespace relay::cli
