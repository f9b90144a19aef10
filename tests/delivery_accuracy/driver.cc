#include "driver.h"

#include <cstdio>
#include <functional>

#include "agent_logs.h"
#include "base/format.h"
#include "clients.h"
#include "net/asio_loop.h"
#include "net/signals.h"

namespace relay::accuracy {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTick{20};
constexpr int kTicksPerLogRead = 5;
constexpr int kTicksPerReport = 250;
constexpr Millis kStartupTimeout{30'000};
constexpr Millis kDrainTimeout{60'000};  // without a new final delivery
constexpr Millis kQueryInterval{200};
constexpr std::uint64_t kBacklogPerAgent = 24;              // so that every kill hits agents with pending messages
constexpr std::uint64_t kHostShare = 40, kAgentShare = 30;  // per cent of the kills; the rest are the daemon's
constexpr std::uint64_t kDoubleKillOneIn = 6;               // a second kill follows at once

class Driver {
 public:
  explicit Driver(const DriverOptions& options)
      : options_{options},
        plan_{options.seed, options.senders, options.processes.agents},
        random_{options.seed},
        processes_{options.processes, random_},
        logs_{plan_} {}

  Result<RunResult> run() {
    net::ignore_sigpipe();
    RELAY_TRY(processes_.open(now()));
    if (options_.processes.keep) std::fprintf(stderr, "keeping files in %s\n", processes_.directory().c_str());
    clients_ = std::make_unique<Clients>(loop_, processes_.socket(), options_.senders);
    give_up_at_ = now() + kStartupTimeout;
    await_agents();
    tick();
    loop_.run();
    kill_timer_.reset();
    query_timer_.reset();
    tick_timer_.reset();
    clients_.reset();
    RELAY_TRY(std::move(failure_));
    return std::move(result_);
  }

 private:
  [[nodiscard]] SteadyTime now() const { return loop_.now().steady; }

  /// Stops the run on a failure.
  bool succeeded(const Result<void>& result) {
    if (result) return true;
    failure_ = result;
    loop_.stop();
    return false;
  }
  void give_up(const std::string& reason) { (void)succeeded(fail(reason)); }

  void tick() {
    tick_timer_ = loop_.after(kTick, [this] { tick(); });
    if (!succeeded(processes_.restart_due(now()))) return;
    if (++ticks_ % kTicksPerLogRead == 0 && !read_logs()) return;
    if (clients_->nack_reason()) return give_up(*clients_->nack_reason());
    if (loading_ && !send_more()) return;
    if (loading_ && clients_->stored() == options_.messages) start_drain();
    if (load_started_ && ticks_ % kTicksPerReport == 0) report();
  }

  bool read_logs() {
    for (std::size_t i = 0; i < plan_.agents; ++i)
      if (!succeeded(logs_.read(i, processes_.log_of(i)))) return false;
    return true;
  }

  void report() const {
    if (options_.quiet) return;
    std::fputs(relay::format("{:4} kills, {:6} messages sent, {:6} stored, {:6} received by agents\n",
                             result_.kills.all(), clients_->sent(), clients_->stored(), logs_.received())
                   .c_str(),
               stdout);
    std::fflush(stdout);
  }

  // Startup: the daemon rejects messages to unknown names.
  void await_agents() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan_.agents; ++i) names.push_back(Processes::name_of(i));
    clients_->check_agents(std::move(names), [this](bool all_listed) {
      if (all_listed) return start_load();
      if (now() > give_up_at_) return give_up("the agents did not connect to the daemon");
      query_timer_ = loop_.after(kQueryInterval, [this] { await_agents(); });
    });
  }

  // Load
  void start_load() {
    load_started_ = now();
    loading_ = true;
    schedule_kill();
  }

  bool send_more() {
    // A message in doubt may never be received.
    const auto max_unreceived = kBacklogPerAgent * plan_.agents + result_.kills.all();
    while (clients_->sent() < options_.messages && clients_->sent() < logs_.received() + max_unreceived)
      if (!succeeded(clients_->send(clients_->sent(), plan_.message(clients_->sent())))) return false;
    return true;
  }

  void schedule_kill() {
    if (options_.kills_per_minute == 0) return;
    const auto mean = 60'000 / options_.kills_per_minute;
    kill_timer_ = loop_.after(Millis{random_.below(2 * mean + 1)}, [this] {
      kill_one();
      if (random_.below(kDoubleKillOneIn) == 0) kill_one();
      schedule_kill();
    });
  }

  void kill_one() {
    const auto share = random_.below(100);
    const auto agent = random_.below(plan_.agents);
    auto& kills = result_.kills;
    if (share < kHostShare)
      kills.host += processes_.kill_host(agent, now()) ? 1U : 0U;
    else if (share < kHostShare + kAgentShare)
      kills.agent += processes_.kill_agent(agent) ? 1U : 0U;
    else
      kills.daemon += processes_.kill_daemon(now()) ? 1U : 0U;
  }

  // Drain: all processes run again, and every delivery becomes final.
  void start_drain() {
    loading_ = false;
    kill_timer_.reset();
    give_up_at_ = now() + kDrainTimeout;
    await_final();
  }

  void await_final() {
    clients_->update_records([this](const Result<void>& read) {
      std::uint64_t settled = 0;
      for (const auto& [number, entry] : clients_->records()) settled += is_final(entry.outcome) ? 1U : 0U;
      if (settled > settled_) give_up_at_ = now() + kDrainTimeout;
      settled_ = settled;
      if (read && (settled == options_.messages || now() > give_up_at_)) return trace_messages();
      if (now() > give_up_at_) return give_up(read.error().message());
      query_timer_ = loop_.after(kQueryInterval, [this] { await_final(); });
    });
  }

  void trace_messages() {
    result_.seconds = std::chrono::duration<double>(now() - *load_started_).count();
    clients_->trace_all([this](const Result<void>& traced) {
      if (!succeeded(traced) || !read_logs()) return;
      compare();
      loop_.stop();
    });
  }

  // Comparison
  void compare() {
    for (Number number = 0; number < options_.messages; ++number) {
      const auto found = clients_->records().find(number);
      const auto outcome = found == clients_->records().end() ? Outcome::Missing : found->second.outcome;
      const auto times = logs_.times_received(number);
      result_.matrix.add(outcome, times);
      if (outcome == Outcome::InDoubt) ++result_.in_doubt_reasons[found->second.reason];
      ConfusionMatrix single;
      single.add(outcome, times);
      if (!single.is_accurate() && result_.examples.size() < kMaxExamples)
        result_.examples.push_back(relay::format("message {} ({}) to {}: {} ({}), received {} times", number,
                                                 found == clients_->records().end() ? "-" : found->second.id,
                                                 Processes::name_of(plan_.message(number).agent), name_of(outcome),
                                                 found == clients_->records().end() ? "" : found->second.reason,
                                                 times));
    }
    result_.torn = logs_.torn();
    result_.out_of_order = logs_.out_of_order();
    result_.stored_twice = clients_->stored_twice();
    for (const auto& example : logs_.examples()) result_.examples.push_back(example);
  }

  static constexpr std::size_t kMaxExamples = 10;

  const DriverOptions& options_;
  Plan plan_;
  SeededRandom random_;
  net::AsioLoop loop_;
  Processes processes_;
  AgentLogs logs_;
  std::unique_ptr<Clients> clients_;
  std::unique_ptr<net::Timer> tick_timer_, kill_timer_, query_timer_;
  std::optional<SteadyTime> load_started_;
  SteadyTime give_up_at_{};
  std::uint64_t settled_ = 0;
  int ticks_ = 0;
  bool loading_ = false;
  Result<void> failure_;
  RunResult result_;
};

}  // namespace

Result<RunResult> run_delivery_accuracy_test(const DriverOptions& options) { return Driver{options}.run(); }

}  // namespace relay::accuracy
