#include "driver.h"

#include <cstdio>
#include <functional>

#include "base/format.h"
#include "net/asio_loop.h"
#include "net/signals.h"
#include "post.h"
#include "testimony.h"

namespace relay::verdicts {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTurn{20};
constexpr int kTurnsPerLook = 5;  // at the agents' logs
constexpr int kTurnsPerReport = 250;
constexpr Millis kGatherTimeout{30'000};
constexpr Millis kCalmTimeout{60'000};  // without any new end
constexpr Millis kAskAgain{200};
constexpr std::uint64_t kBacklogPerAgent =
    24;  // so that kills meet agents with mail, from the first message to the last
constexpr std::uint64_t kHostShare = 40, kAgentShare = 30;  // per cent of the kills; the rest are the daemon's
constexpr std::uint64_t kOneInTwice = 6;                    // a second blow follows at once

class Driver {
 public:
  explicit Driver(const DriverOptions& options)
      : options_{options},
        plan_{options.seed, options.senders, options.props.agents},
        random_{options.seed},
        stage_{options.props, random_},
        testimony_{plan_} {}

  Result<Outcome> run() {
    net::ignore_sigpipe();
    RELAY_TRY(stage_.open(now()));
    if (options_.props.keep) std::fprintf(stderr, "files are kept in %s\n", stage_.place().c_str());
    post_ = std::make_unique<Post>(loop_, stage_.socket(), options_.senders);
    give_up_at_ = now() + kGatherTimeout;
    gather();
    take_turn();
    loop_.run();
    kill_timer_.reset();
    ask_timer_.reset();
    turn_.reset();
    post_.reset();
    RELAY_TRY(std::move(failure_));
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] SteadyTime now() const { return loop_.now().steady; }

  /// True when it did not fail; otherwise this is the end.
  bool succeeded(const Result<void>& result) {
    if (result) return true;
    failure_ = result;
    loop_.stop();
    return false;
  }
  void give_up(const std::string& why) { (void)succeeded(fail(why)); }

  // ---- at all times
  void take_turn() {
    turn_ = loop_.after(kTurn, [this] { take_turn(); });
    if (!succeeded(stage_.tend(now()))) return;
    if (++turns_ % kTurnsPerLook == 0 && !look()) return;
    if (post_->refused()) return give_up(*post_->refused());
    if (storm_ && !write()) return;
    if (storm_ && post_->stored() == options_.messages) calm_down();
    if (began_ && turns_ % kTurnsPerReport == 0) report();
  }

  bool look() {
    for (std::size_t i = 0; i < plan_.agents; ++i)
      if (!succeeded(testimony_.read(i, stage_.log_of(i)))) return false;
    return true;
  }

  void report() const {
    if (options_.quiet) return;
    std::fputs(relay::format("{:4} kills, {:6} messages sent, {:6} stored, {:6} given to agents\n",
                             outcome_.kills.all(), post_->sent(), post_->stored(), testimony_.received())
                   .c_str(),
               stdout);
    std::fflush(stdout);
  }

  // ---- gathering: nobody can write to a name the daemon has never heard of
  void gather() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < plan_.agents; ++i) names.push_back(Stage::name_of(i));
    post_->ask_for(std::move(names), [this](bool here) {
      if (here) return begin();
      if (now() > give_up_at_) return give_up("the agents never became known to the daemon");
      ask_timer_ = loop_.after(kAskAgain, [this] { gather(); });
    });
  }

  // ---- the storm
  void begin() {
    began_ = now();
    storm_ = true;
    plan_kill();
  }

  bool write() {
    const auto room = kBacklogPerAgent * plan_.agents + outcome_.kills.all();  // what is in doubt is never given
    while (post_->sent() < options_.messages && post_->sent() < testimony_.received() + room)
      if (!succeeded(post_->send(post_->sent(), plan_.errand(post_->sent())))) return false;
    return true;
  }

  void plan_kill() {
    if (options_.kills_per_minute == 0) return;
    const auto mean = 60'000 / options_.kills_per_minute;
    kill_timer_ = loop_.after(Millis{random_.below(2 * mean + 1)}, [this] {
      kill_one();
      if (random_.below(kOneInTwice) == 0) kill_one();
      plan_kill();
    });
  }

  void kill_one() {
    const auto share = random_.below(100);
    const auto agent = random_.below(plan_.agents);
    auto& kills = outcome_.kills;
    if (share < kHostShare)
      kills.host += stage_.kill_host(agent, now()) ? 1U : 0U;
    else if (share < kHostShare + kAgentShare)
      kills.agent += stage_.kill_agent(agent) ? 1U : 0U;
    else
      kills.daemon += stage_.kill_daemon(now()) ? 1U : 0U;
  }

  // ---- the calm: everybody comes back, everything comes to its end
  void calm_down() {
    storm_ = false;
    kill_timer_.reset();
    give_up_at_ = now() + kCalmTimeout;
    await_ends();
  }

  void await_ends() {
    post_->read_ledger([this](const Result<void>& read) {
      std::uint64_t ended = 0;
      for (const auto& [number, entry] : post_->ledger()) ended += is_final(entry.verdict) ? 1U : 0U;
      if (ended > ended_) give_up_at_ = now() + kCalmTimeout;
      ended_ = ended;
      if (read && (ended == options_.messages || now() > give_up_at_)) return hear_the_stories();
      if (now() > give_up_at_) return give_up(read.error().message());
      ask_timer_ = loop_.after(kAskAgain, [this] { await_ends(); });
    });
  }

  void hear_the_stories() {
    outcome_.seconds = std::chrono::duration<double>(now() - *began_).count();
    post_->trace_all([this](const Result<void>& told) {
      if (!succeeded(told) || !look()) return;
      judge();
      loop_.stop();
    });
  }

  void judge() {
    for (Number number = 0; number < options_.messages; ++number) {
      const auto found = post_->ledger().find(number);
      const auto verdict = found == post_->ledger().end() ? Verdict::Missing : found->second.verdict;
      const auto times = testimony_.times(number);
      outcome_.matrix.add(verdict, times);
      if (verdict == Verdict::InDoubt) ++outcome_.doubts[found->second.reason];
      Matrix alone;
      alone.add(verdict, times);
      if (!alone.truthful() && outcome_.examples.size() < kMaxExamples)
        outcome_.examples.push_back(relay::format("parcel {} ({}) to {}: {} ({}), given {} times", number,
                                                  found == post_->ledger().end() ? "-" : found->second.id,
                                                  Stage::name_of(plan_.errand(number).agent), name_of(verdict),
                                                  found == post_->ledger().end() ? "" : found->second.reason, times));
    }
    outcome_.torn = testimony_.torn();
    outcome_.disordered = testimony_.disordered();
    outcome_.stored_twice = post_->stored_twice();
    for (const auto& example : testimony_.examples()) outcome_.examples.push_back(example);
  }

  static constexpr std::size_t kMaxExamples = 10;

  const DriverOptions& options_;
  Plan plan_;
  SeededRandom random_;
  net::AsioLoop loop_;
  Stage stage_;
  Testimony testimony_;
  std::unique_ptr<Post> post_;
  std::unique_ptr<net::Timer> turn_, kill_timer_, ask_timer_;
  std::optional<SteadyTime> began_;
  SteadyTime give_up_at_{};
  std::uint64_t ended_ = 0;
  int turns_ = 0;
  bool storm_ = false;
  Result<void> failure_;
  Outcome outcome_;
};

}  // namespace

Result<Outcome> run_verdict_test(const DriverOptions& options) { return Driver{options}.run(); }

}  // namespace relay::verdicts
