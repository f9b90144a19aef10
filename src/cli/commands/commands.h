/// The commands, each defined in the file of its name.
#pragma once

#include "cli/framework/command.h"

namespace relay::cli {

extern const Command kUp;
extern const Command kDown;
extern const Command kStatus;
extern const Command kRun;
extern const Command kSkill;
extern const Command kSend;
extern const Command kInbox;
extern const Command kLog;
extern const Command kRead;
extern const Command kChat;
extern const Command kAgents;
extern const Command kExplain;
extern const Command kSpawn;
extern const Command kAttach;
extern const Command kInput;
extern const Command kWait;
extern const Command kRelease;
extern const Command kPause;
extern const Command kUnpause;
extern const Command kFlush;
extern const Command kDead;
extern const Command kPermissions;
extern const Command kQuestions;
extern const Command kApprove;
extern const Command kDeny;
extern const Command kAnswer;
extern const Command kTrace;
extern const Command kEvents;
extern const Command kCost;
extern const Command kSearch;
extern const Command kDoctor;
extern const Command kBench;
extern const Command kConfig;
extern const Command kReload;
extern const Command kWorkspaces;
extern const Command kChannels;
extern const Command kTopics;
extern const Command kPolicy;
extern const Command kLoops;
extern const Command kCancel;
extern const Command kMcp;
extern const Command kExtract;
extern const Command kHook;
extern const Command kHooks;
extern const Command kOpenApi;
extern const Command kCompletion;

}  // namespace relay::cli
