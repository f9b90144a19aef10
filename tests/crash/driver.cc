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
constexpr std::uint64_t kMaxAwayMs = 250;   // how long the killed one stays away
constexpr std::uint64_t kDaemonShare = 40;  // per cent of the kills
constexpr std::uint64_t kMaxWaitedMs = 40;  // between two looks at something

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
    if (options_.keep || place_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(place_, ignored);
  }

  Result<Outcome> run() {
    const auto began = steady_clock::now();
    RELAY_TRY(prepare());
    RELAY_TRY(start_daemon());
    RELAY_TRY(introduce_everybody());
    RELAY_TRY(kill_for_a_while());
    RELAY_TRY(heal());
    RELAY_TRY(drain());
    outcome_.verdict = RELAY_TRY(verdict());
    outcome_.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
    return outcome_;
  }

 private:
  Result<void> prepare() {
    std::string pattern = (std::filesystem::temp_directory_path() / "relay-crash-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) return fail_errno("cannot make a directory for the crash test");
    place_ = pattern;
    for (const auto& folder : {std::string{"project"}, std::string{"project/.git"}})
      if (::mkdir((place_ + "/" + folder).c_str(), 0700) != 0) return fail_errno("cannot make " + folder);
    for (const auto& name : names_)
      if (::mkdir((place_ + "/" + name).c_str(), 0700) != 0) return fail_errno("cannot make " + name);
    if (options_.keep) std::printf("files are kept in %s\n", place_.c_str());
    return {};
  }

  [[nodiscard]] std::string socket() const { return place_ + "/r.sock"; }
  [[nodiscard]] std::string stop_file() const { return place_ + "/stop"; }

  Result<void> start_daemon() {
    daemon_ =
        RELAY_TRY(Process::start({.words = {options_.program, "up", "--foreground", "--no-http", "--socket", socket()},
                                  .variables = {{"HOME", place_},
                                                {"PATH", "/usr/bin:/bin"},
                                                {"AGENT_RELAY_HOME", place_ + "/home"},
                                                {"AGENT_RELAY_BREAK_LOOPS", "false"},  // numbers are no conversation
                                                {"AGENT_RELAY_DURABILITY", options_.durability}},
                                  .directory = place_ + "/project",
                                  .output = place_ + "/daemon.out"}));
    return {};
  }

  Result<void> wait_for_daemon() {
    const auto give_up = steady_clock::now() + kStartTimeout;
    while (!listens(socket())) {
      if (daemon_.ended()) return fail("the daemon ended by itself and said: " + tail_of("daemon.out"));
      if (steady_clock::now() > give_up) return fail("the daemon does not listen and said: " + tail_of("daemon.out"));
      sleep_ms(kMaxWaitedMs / 4);
    }
    return {};
  }

  Result<void> start_client(std::size_t index, int messages_per_second) {
    const auto& name = names_[index];
    std::string peers;
    for (const auto& peer : names_) peers += (peers.empty() ? "" : ",") + peer;
    clients_[index] = RELAY_TRY(Process::start(
        {.words = {options_.self, "--role", "client", "--name", name, "--peers", peers, "--socket", socket(),
                   "--directory", place_ + "/" + name, "--seed", relay::format("{}", random_.next()), "--rate",
                   relay::format("{}", messages_per_second), "--stop-file", stop_file()},
         .variables = {{"HOME", place_}, {"PATH", "/usr/bin:/bin"}},
         .directory = place_,
         .output = place_ + "/" + name + "/out"}));
    return {};
  }

  /// Nobody can write to a name the daemon has never heard of, so everybody says HELLO once before the talk begins.
  Result<void> introduce_everybody() {
    RELAY_TRY(wait_for_daemon());
    clients_.resize(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) RELAY_TRY(start_client(i, 0));
    const auto give_up = steady_clock::now() + kStartTimeout;
    for (const auto& name : names_)
      while (!std::filesystem::exists(place_ + "/" + name + "/token")) {
        if (steady_clock::now() > give_up)
          return fail(name + " never became ready and said: " + tail_of(name + "/out"));
        sleep_ms(kMaxWaitedMs);
      }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      clients_[i].kill_and_reap();
      std::filesystem::remove(place_ + "/" + names_[i] + "/sent");  // the D of a client that had nothing to say
      RELAY_TRY(start_client(i, options_.messages_per_second));
    }
    return {};
  }

  Result<void> kill_for_a_while() {
    auto next_report = steady_clock::now() + kReportEvery;
    std::uint64_t accepted = 0;
    while (outcome_.daemon_kills + outcome_.client_kills < options_.kills || accepted < options_.messages) {
      sleep_ms(kMinPauseMs + random_.below(kMaxPauseMs - kMinPauseMs));
      RELAY_TRY(check_alive());
      if (random_.below(100) < kDaemonShare)
        RELAY_TRY(kill_daemon());
      else
        RELAY_TRY(kill_client(random_.below(names_.size())));
      if (steady_clock::now() < next_report) continue;
      next_report += kReportEvery;
      const auto now = RELAY_TRY(verdict());
      accepted = now.accepted;
      std::fputs(relay::format("{:4} kills, {:8} messages accepted, {:8} received\n",
                               outcome_.daemon_kills + outcome_.client_kills, now.accepted, now.received)
                     .c_str(),
                 stdout);
      std::fflush(stdout);
      if (now.duplicated + now.disordered + now.refused > 0) return {};  // no need to go on
    }
    return {};
  }

  Result<void> kill_daemon() {
    daemon_.kill_and_reap();
    ++outcome_.daemon_kills;
    sleep_ms(random_.below(kMaxAwayMs));
    RELAY_TRY(start_daemon());
    // One time in three the next kill may hit it before it even listens.
    return random_.below(3) == 0 ? Result<void>{} : wait_for_daemon();
  }

  Result<void> kill_client(std::size_t index) {
    clients_[index].kill_and_reap();
    ++outcome_.client_kills;
    sleep_ms(random_.below(kMaxAwayMs));
    return start_client(index, options_.messages_per_second);
  }

  Result<void> check_alive() {
    if (daemon_.ended()) return fail("the daemon ended by itself and said: " + tail_of("daemon.out"));
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (clients_[i].ended()) return fail(names_[i] + " ended by itself and said: " + tail_of(names_[i] + "/out"));
    return {};
  }

  Result<void> heal() {
    RELAY_TRY(wait_for_daemon());
    RELAY_TRY(JournalFile::open(stop_file()));
    return {};
  }

  /// Until every outbox is empty and nothing new has come for a while.
  Result<void> drain() {
    std::uint64_t received = 0;
    auto last_progress = steady_clock::now();
    while (steady_clock::now() - last_progress < kDrainTimeout) {
      RELAY_TRY(check_alive());
      const auto now = RELAY_TRY(verdict());
      bool drained = true;
      for (const auto& name : names_)
        drained = drained && parse_sent(RELAY_TRY(read_file(place_ + "/" + name + "/sent"))).drained;
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
    if (!daemon_.wait_for_end(10'000)) return fail("the daemon did not end within 10 s of SIGTERM");
    return {};
  }

  Result<Verdict> verdict() {
    std::map<std::string, Witness> witnesses;
    for (const auto& name : names_) {
      // What was sent is read after what was received: nothing may look invented.
      auto& witness = witnesses[name];
      witness.received = RELAY_TRY(read_file(place_ + "/" + name + "/received"));
    }
    for (const auto& name : names_) witnesses[name].sent = RELAY_TRY(read_file(place_ + "/" + name + "/sent"));
    return judge(witnesses);
  }

  [[nodiscard]] std::string tail_of(const std::string& file) const {
    constexpr std::size_t kTail = 2'000;
    const auto text = read_file(place_ + "/" + file).value_or("");
    return text.size() > kTail ? text.substr(text.size() - kTail) : text;
  }

  const DriverOptions& options_;
  SeededRandom random_;
  std::vector<std::string> names_;
  std::string place_;
  Process daemon_;
  std::vector<Process> clients_;
  Outcome outcome_;
};

}  // namespace

Result<Outcome> run_crash_test(const DriverOptions& options) { return Driver{options}.run(); }

}  // namespace relay::crash
