/// Verbs instead of names: `spawn NAME CLI "task"`, `release NAME`, `subscribe TOPIC`, `unsubscribe TOPIC`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::commands {

enum class WorkerVerb { None, Spawn, Release };

/// The verb in place of the recipient, in any case; verbs are never names.
WorkerVerb worker_verb(std::string_view target);

enum class TopicVerb { None, Subscribe, Unsubscribe };

/// The same for topics: `subscribe deploys`, `unsubscribe deploys`.
TopicVerb topic_verb(std::string_view target);

struct SpawnLine {
  std::string name;
  std::string cli;
  std::string task;        // from quotes, or the plain rest
  std::string_view opens;  // instead of a task: `<<<` and the rest
};

/// Parses the text after `spawn`. The error is the reason for a CommandError.
Result<SpawnLine> read_spawn(std::string_view text);

/// Parses the text after `release`: only one name, so that "release notes are ready" releases no agent.
Result<std::string> read_release(std::string_view text);

/// Parses the text after `subscribe`: only one topic.
Result<std::string> read_topic(std::string_view text);

}  // namespace relay::commands
