/// Words that are no names: `spawn NAME CLI "task"`, `release NAME`, `subscribe TOPIC`, `unsubscribe TOPIC`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::commands {

enum class WorkerVerb { None, Spawn, Release };

/// Is the addressee of a command one of these words? In any case of letters; they are never names.
WorkerVerb worker_verb(std::string_view target);

enum class TopicVerb { None, Subscribe, Unsubscribe };

/// The same for topics: `subscribe deploys`, `unsubscribe deploys`.
TopicVerb topic_verb(std::string_view target);

struct SpawnLine {
  std::string name;
  std::string cli;
  std::string task;        // from quotes, or as it stands
  std::string_view opens;  // instead of a task: `<<<` and what follows
};

/// What follows `spawn`. The error is the reason for a Mistake.
Result<SpawnLine> read_spawn(std::string_view text);

/// What follows `release`: one name and nothing else, so that "release notes are ready" sends nobody home.
Result<std::string> read_release(std::string_view text);

/// What follows `subscribe`: one topic and nothing else.
Result<std::string> read_topic(std::string_view text);

}  // namespace relay::commands
