#include "daemon_under_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>
#include <thread>

#include "base/format.h"

namespace relay::bench {

Result<DaemonUnderTest> DaemonUnderTest::start(const std::string& program, const Storage& storage) {
  std::string place = (std::filesystem::temp_directory_path() / "relay-bench-XXXXXX").string();
  if (!::mkdtemp(place.data())) return fail_errno("cannot make a temporary directory");
  const auto absolute = std::filesystem::absolute(program).string();
  if (::mkdir((place + "/.git").c_str(), 0700) != 0) return fail_errno("cannot make a project");
  std::array variables{"HOME=" + place,
                       "AGENT_RELAY_HOME=" + place + "/home",
                       "AGENT_RELAY_STORAGE_TYPE=" + storage.type,
                       "AGENT_RELAY_DURABILITY=" + storage.durability,
                       std::string{"AGENT_RELAY_RATE_PER_SECOND=0"},
                       std::string{"AGENT_RELAY_BREAK_LOOPS=false"},
                       std::string{"AGENT_RELAY_HEARTBEAT_MS=3600000"}};  // we are silent while others have their turn
  std::array<char*, 8> environment{};
  for (std::size_t i = 0; i < variables.size(); ++i) environment[i] = variables[i].data();
  const auto path = place + "/r.sock", out = place + "/out";
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot start the daemon");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int log = ::open(out.c_str(), O_WRONLY | O_CREAT, 0600);
    if (log < 0 || ::dup2(log, 1) < 0 || ::dup2(log, 2) < 0 || ::chdir(place.c_str()) != 0) ::_exit(126);
    ::execle(absolute.c_str(), "agent-relay", "up", "--foreground", "--no-http", "--socket", path.c_str(),
             static_cast<char*>(nullptr), environment.data());
    ::_exit(127);
  }
  DaemonUnderTest daemon{place, pid};
  for (int tries = 0; tries < 1'000; ++tries) {
    if (Peer::connect(path)) return daemon;
    if (::waitpid(pid, nullptr, WNOHANG) == pid) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return fail(relay::format("{} does not listen; its words are in {}", absolute, out));
}

DaemonUnderTest::DaemonUnderTest(DaemonUnderTest&& other) noexcept
    : place_{std::exchange(other.place_, {})}, pid_{std::exchange(other.pid_, 0)} {}

DaemonUnderTest::~DaemonUnderTest() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(place_, ignored);
}

Result<Peer> DaemonUnderTest::join(const std::string& name) const {
  auto peer = RELAY_TRY(Peer::connect(socket()));
  RELAY_TRY(peer.write_all(frame_of(relay::format(
      R"({{"v":1,"type":"HELLO","id":"h","ts":1,"payload":{{"agent":"{}","capabilities":{{"ack":true,"resume":false,)"
      R"("max_inflight":4096,"supports_topics":true,"send_ack":true}}}}}})",
      name))));
  const auto answer = RELAY_TRY(peer.read_frame());
  if (!answer.contains(R"("type":"WELCOME")")) return fail("the daemon did not welcome us: " + answer);
  return peer;
}

}  // namespace relay::bench
