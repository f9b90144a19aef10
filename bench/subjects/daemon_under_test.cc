#include "subjects/daemon_under_test.h"

#include <sys/stat.h>

#include <filesystem>

#include "subjects/peer.h"

namespace relay::bench {

Result<DaemonUnderTest> DaemonUnderTest::start(const std::string& program, const DaemonSettings& settings) {
  auto server = RELAY_TRY(ServerProcess::in_new_place());
  if (::mkdir(server.file(".git").c_str(), 0700) != 0) return fail_errno("cannot make a project");
  std::vector<std::string> environment{"AGENT_RELAY_HOME=" + server.file("home"),
                                       "AGENT_RELAY_STORAGE_TYPE=" + settings.storage,
                                       "AGENT_RELAY_DURABILITY=" + settings.durability,
                                       "AGENT_RELAY_RATE_PER_SECOND=0",
                                       "AGENT_RELAY_BREAK_LOOPS=false",
                                       "AGENT_RELAY_HEARTBEAT_MS=" + settings.heartbeat_ms};
  DaemonUnderTest daemon{std::move(server), std::move(environment)};
  RELAY_TRY(daemon.server_.start(
      {std::filesystem::absolute(program).string(), "up", "--foreground", "--no-http", "--socket", daemon.socket()},
      daemon.environment_));
  RELAY_TRY(daemon.server_.until([&] { return Peer::connect(daemon.socket()).has_value(); }));
  return daemon;
}

}  // namespace relay::bench
