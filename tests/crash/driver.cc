#include "driver.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/format.h"
#include "base/random.h"
#include "base/unique_fd.h"
#include "client_role.h"
#include "process.h"

namespace relay::crash {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kReportEvery = 5s;
constexpr auto kStartTimeout = 20s;
constexpr auto kDrainTimeout = 60s;         // without any progress
constexpr std::uint64_t kMinPauseMs = 100;  // between two kills
constexpr std::uint64_t kMaxPauseMs = 700;
constexpr std::uint64_t kMaxRestartDelayMs = 250;
constexpr std::uint64_t kDaemonShare = 40;  // per cent of the kills
constexpr std::uint64_t kMaxPollMs = 40;

void sleep_ms(std::uint64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds{ms}); }

bool listens(const std::string& path) {
  const UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size() + 1, sizeof(address.sun_path)));
  return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

class Driver {
 public:
  explicit Driver(const DriverOptions& options) : options_{options}, random_{options.seed} {
    for (std::size_t i = 0; i < options.clients; ++i) names_.push_back(relay::format("Client{}", i));
  }

  ~Driver() {
    clients_.clear();
    daemon_.kill_and_reap();
    if (options_.keep || directory_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  Result<RunResult> run() {
    const auto started = steady_clock::now();
    RELAY_TRY(prepare());
    RELAY_TRY(start_daemon());
    RELAY_TRY(register_clients());
    RELAY_TRY(run_load());
    RELAY_TRY(stop_sending());
    RELAY_TRY(drain());
    result_.comparison = RELAY_TRY(compare_now());
    result_.seconds = std::chrono::duration<double>(steady_clock::now() - started).count();
    return result_;
  }

 private:
  Result<void> prepare() {
    std::string pattern = (std::filesystem::temp_directory_path() / "relay-crash-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) return fail_errno("cannot create a directory for the crash test");
    directory_ = pattern;
    for (const auto& folder : {std::string{"project"}, std::string{"project/.git"}})
      if (::mkdir((directory_ + "/" + folder).c_str(), 0700) != 0) return fail_errno("cannot create " + folder);
    for (const auto& name : names_)
      if (::mkdir((directory_ + "/" + name).c_str(), 0700) != 0) return fail_errno("cannot create " + name);
    if (options_.keep) std::printf("keeping files in %s\n", directory_.c_str());
    return {};
  }

  [[nodiscard]] std::string socket() const { return directory_ + "/r.sock"; }
  [[nodiscard]] std::string stop_file() const { return directory_ + "/stop"; }

  Result<void> start_daemon() {
    daemon_ =
        RELAY_TRY(Process::start({.argv = {options_.program, "up", "--foreground", "--no-http", "--socket", socket()},
                                  .environment = {{"HOME", directory_},
                                                  {"PATH", "/usr/bin:/bin"},
                                                  {"AGENT_RELAY_HOME", directory_ + "/home"},
                                                  {"AGENT_RELAY_BREAK_LOOPS", "false"},  // bodies are only numbers
                                                  {"AGENT_RELAY_DURABILITY", options_.durability}},
                                  .directory = directory_ + "/project",
                                  .output = directory_ + "/daemon.out"}));
    return {};
  }

  Result<void> wait_for_daemon() {
    const auto deadline = steady_clock::now() + kStartTimeout;
    while (!listens(socket())) {
      if (daemon_.exited()) return fail("the daemon exited by itself with the output: " + tail_of("daemon.out"));
      if (steady_clock::now() > deadline)
        return fail("the daemon does not listen; its output: " + tail_of("daemon.out"));
      sleep_ms(kMaxPollMs / 4);
    }
    return {};
  }

  Result<void> start_client(std::size_t index, int messages_per_second) {
    const auto& name = names_[index];
    std::string peers;
    for (const auto& peer : names_) peers += (peers.empty() ? "" : ",") + peer;
    clients_[index] = RELAY_TRY(Process::start(
        {.argv = {options_.self, "--role", "client", "--name", name, "--peers", peers, "--socket", socket(),
                  "--directory", directory_ + "/" + name, "--seed", relay::format("{}", random_.next()), "--rate",
                  relay::format("{}", messages_per_second), "--stop-file", stop_file()},
         .environment = {{"HOME", directory_}, {"PATH", "/usr/bin:/bin"}},
         .directory = directory_,
         .output = directory_ + "/" + name + "/out"}));
    return {};
  }

  /// The daemon rejects messages to unknown names, so every client says HELLO before the load starts.
  Result<void> register_clients() {
    RELAY_TRY(wait_for_daemon());
    clients_.resize(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) RELAY_TRY(start_client(i, 0));
    const auto deadline = steady_clock::now() + kStartTimeout;
    for (const auto& name : names_)
      while (!std::filesystem::exists(directory_ + "/" + name + "/token")) {
        if (steady_clock::now() > deadline)
          return fail(name + " did not become ready; its output: " + tail_of(name + "/out"));
        sleep_ms(kMaxPollMs);
      }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      clients_[i].kill_and_reap();
      std::filesystem::remove(directory_ + "/" + names_[i] + "/sent");  // the D of a client that sent nothing
      RELAY_TRY(start_client(i, options_.messages_per_second));
    }
    return {};
  }

  Result<void> run_load() {
    auto next_report = steady_clock::now() + kReportEvery;
    std::uint64_t accepted = 0;
    while (result_.daemon_kills + result_.client_kills < options_.kills || accepted < options_.messages) {
      sleep_ms(kMinPauseMs + random_.below(kMaxPauseMs - kMinPauseMs));
      RELAY_TRY(check_alive());
      if (random_.below(100) < kDaemonShare)
        RELAY_TRY(kill_daemon());
      else
        RELAY_TRY(kill_client(random_.below(names_.size())));
      if (steady_clock::now() < next_report) continue;
      next_report += kReportEvery;
      const auto now = RELAY_TRY(compare_now());
      accepted = now.accepted;
      std::fputs(relay::format("{:4} kills, {:8} messages accepted, {:8} received\n",
                               result_.daemon_kills + result_.client_kills, now.accepted, now.received)
                     .c_str(),
                 stdout);
      std::fflush(stdout);
      if (now.duplicated + now.out_of_order + now.refused > 0) return {};
    }
    return {};
  }

  Result<void> kill_daemon() {
    daemon_.kill_and_reap();
    ++result_.daemon_kills;
    sleep_ms(random_.below(kMaxRestartDelayMs));
    RELAY_TRY(start_daemon());
    // In one of three cases the next kill may hit the daemon before it listens.
    return random_.below(3) == 0 ? Result<void>{} : wait_for_daemon();
  }

  Result<void> kill_client(std::size_t index) {
    clients_[index].kill_and_reap();
    ++result_.client_kills;
    sleep_ms(random_.below(kMaxRestartDelayMs));
    return start_client(index, options_.messages_per_second);
  }

  Result<void> check_alive() {
    if (daemon_.exited()) return fail("the daemon exited by itself with the output: " + tail_of("daemon.out"));
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (clients_[i].exited())
        return fail(names_[i] + " exited by itself with the output: " + tail_of(names_[i] + "/out"));
    return {};
  }

  Result<void> stop_sending() {
    RELAY_TRY(wait_for_daemon());
    RELAY_TRY(JournalFile::open(stop_file()));
    return {};
  }

  /// Waits until every outbox is empty and no message has arrived for a second.
  Result<void> drain() {
    std::uint64_t received = 0;
    auto last_progress = steady_clock::now();
    while (steady_clock::now() - last_progress < kDrainTimeout) {
      RELAY_TRY(check_alive());
      const auto now = RELAY_TRY(compare_now());
      bool drained = true;
      for (const auto& name : names_)
        drained = drained && parse_sent(RELAY_TRY(read_file(directory_ + "/" + name + "/sent"))).drained;
      if (now.received != received) {
        received = now.received;
        last_progress = steady_clock::now();
      } else if (drained && now.complete() && steady_clock::now() - last_progress > 1s) {
        break;
      }
      sleep_ms(250);
    }
    clients_.clear();
    daemon_.signal(SIGTERM);
    if (!daemon_.wait_for_exit(10'000)) return fail("the daemon did not exit within 10 s of SIGTERM");
    return {};
  }

  Result<Comparison> compare_now() {
    std::map<std::string, ClientJournals> journals;
    for (const auto& name : names_) {
      // Sent journals are read after received ones, so that no message seems spurious.
      auto& client = journals[name];
      client.received = RELAY_TRY(read_file(directory_ + "/" + name + "/received"));
    }
    for (const auto& name : names_) journals[name].sent = RELAY_TRY(read_file(directory_ + "/" + name + "/sent"));
    return compare(journals);
  }

  [[nodiscard]] std::string tail_of(const std::string& file) const {
    constexpr std::size_t kTail = 2'000;
    const auto text = read_file(directory_ + "/" + file).value_or("");
    return text.size() > kTail ? text.substr(text.size() - kTail) : text;
  }

  const DriverOptions& options_;
  SeededRandom random_;
  std::vector<std::string> names_;
  std::string directory_;
  Process daemon_;
  std::vector<Process> clients_;
  RunResult result_;
};

}  // namespace

Result<RunResult> run_crash_test(const DriverOptions& options) { return Driver{options}.run(); }

}  // namespace relay::crash
