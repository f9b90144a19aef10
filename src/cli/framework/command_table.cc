#include <array>

#include "cli/commands/commands.h"
#include "cli/framework/command.h"

namespace relay::cli {
namespace {

constexpr std::array kTable = {
    &kUp,      &kDown,   &kStatus,  &kRun,         &kSend,     &kChat,   &kLog,       &kInbox,
    &kRead,    &kTrace,  &kAgents,  &kSpawn,       &kExplain,  &kAttach, &kRelease,   &kPause,
    &kUnpause, &kInput,  &kWait,    &kPermissions, &kApprove,  &kDeny,   &kQuestions, &kAnswer,
    &kDead,    &kFlush,  &kCancel,  &kPolicy,      &kLoops,    &kReload, &kEvents,    &kCost,
    &kSearch,  &kDoctor, &kConfig,  &kWorkspaces,  &kChannels, &kTopics, &kHooks,     &kHook,
    &kMcp,     &kSkill,  &kOpenApi, &kCompletion,  &kExtract,  &kBench,
};

}  // namespace

std::string_view title_of(Group group) {
  switch (group) {
    case Group::Everyday: return "everyday";
    case Group::Agents: return "agents";
    case Group::Control: return "control";
    case Group::Inspect: return "inspect";
    case Group::Together: return "together";
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
