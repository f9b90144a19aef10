/// The daemon in a temporary home with one project.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "subjects/server_process.h"

namespace relay::bench {

struct DaemonSettings {
  std::string storage = "sqlite";        // AGENT_RELAY_STORAGE_TYPE
  std::string durability = "power";      // AGENT_RELAY_DURABILITY
  std::string heartbeat_ms = "3600000";  // no heartbeats while other subjects run
  std::uint16_t http_port = 0;           // of the HTTP API; 0: off
};

class DaemonUnderTest {
 public:
  static Result<DaemonUnderTest> start(const std::string& program, const DaemonSettings& settings);

  [[nodiscard]] std::string socket() const { return server_.file("r.sock"); }
  [[nodiscard]] const ServerProcess& server() const { return server_; }
  /// The environment with which the command line finds this daemon, for use inside `server().directory()`.
  [[nodiscard]] const std::vector<std::string>& environment() const { return environment_; }

 private:
  DaemonUnderTest(ServerProcess server, std::vector<std::string> environment)
      : server_{std::move(server)}, environment_{std::move(environment)} {}

  ServerProcess server_;
  std::vector<std::string> environment_;
};

}  // namespace relay::bench
