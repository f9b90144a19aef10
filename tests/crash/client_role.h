/// One client of the crash test, until it is killed.
///
/// It sends to every peer on several topics through a durable outbox, and journals each received message before it
/// acknowledges. After a restart it continues from its own journals: message numbers after the last one tried, stream
/// positions after the last one received.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace relay::crash {

struct ClientOptions {
  std::string name;
  std::vector<std::string> peers;  // everybody, itself included
  std::string socket;
  std::string directory;  // its own: journals, outbox, resume token
  std::uint64_t seed = 0;
  int messages_per_second = 0;  // 0: only listens
  std::string stop_file;        // once it exists: send no more, write D when all is answered, go on listening
};

/// Runs until it is killed; returns only when something is wrong.
Result<void> run_client(const ClientOptions& options);

}  // namespace relay::crash
