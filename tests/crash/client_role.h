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
  std::vector<std::string> peers;  // all clients, itself included
  std::string socket;
  std::string directory;  // of this client: journals, outbox, resume token
  std::uint64_t seed = 0;
  int messages_per_second = 0;  // 0: only receives
  std::string stop_file;        // once it exists: stop sending, write D when all is acknowledged, keep receiving
};

/// Runs until it is killed; returns only on an error.
Result<void> run_client(const ClientOptions& options);

}  // namespace relay::crash
