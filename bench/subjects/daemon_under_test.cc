#include "subjects/daemon_under_test.h"

#include <sys/stat.h>

#include <filesystem>

#include "subjects/peer.h"

namespace relay::bench {

Result<DaemonUnderTest> DaemonUnderTest::start(const std::string& program, const DaemonSettings& settings) {
  auto server = RELAY_TRY(ServerProcess::create());
  if (::mkdir(server.file(".git").c_str(), 0700) != 0) return fail_errno("cannot make a project");
  std::vector<std::string> environment{"AGENT_RELAY_HOME=" + server.file("home"),
                                       "AGENT_RELAY_STORAGE_TYPE=" + settings.storage,
                                       "AGENT_RELAY_DURABILITY=" + settings.durability,
                                       "AGENT_RELAY_RATE_PER_SECOND=0",
                                       "AGENT_RELAY_BREAK_LOOPS=false",
                                       "AGENT_RELAY_HEARTBEAT_MS=" + settings.heartbeat_ms,
                                       "AGENT_RELAY_DASHBOARD_PORT=" + std::to_string(settings.http_port)};
  DaemonUnderTest daemon{std::move(server), std::move(environment)};
  RELAY_TRY(daemon.server_.start(
      {std::filesystem::absolute(program).string(), "up", "--foreground", "--socket", daemon.socket()},
      daemon.environment_));
  RELAY_TRY(daemon.server_.until([&] { return Peer::connect(daemon.socket()).has_value(); }));
  if (settings.http_port != 0)
    RELAY_TRY(daemon.server_.until([&] { return ByteSocket::connect_loopback(settings.http_port).has_value(); }));
  return daemon;
}

}  // namespace relay::bench
