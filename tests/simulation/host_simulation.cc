#include "tests/simulation/host_simulation.h"

#include <algorithm>

#include "base/format.h"

namespace relay::simulation {
namespace {

constexpr Nanos kMaxSettling = std::chrono::minutes{30};  // after the faults, everything settles within this
constexpr Nanos kHorizon = std::chrono::seconds{40};
constexpr std::string_view kFetched = "fetched by the agent";
constexpr std::uint64_t kMaxSteps = 400'000;
constexpr std::size_t kLongBody = 12'000;  // too long to type
constexpr Nanos kUndoInterval = milliseconds{1'000};

using protocol::DeliveryMode;
using records::DeliveryState;

/// No host of this simulation can deliver it, so it stays visibly pending.
bool is_unsupported(DeliveryMode mode) {
  return mode == DeliveryMode::NextMessage || mode == DeliveryMode::NextToolCall;
}

bool is_settled(const Row& row) {
  const auto& delivery = row.delivery;
  return records::is_final(delivery.state) ||
         (delivery.state == DeliveryState::Deferred && is_unsupported(delivery.lane.mode));
}

}  // namespace

HostSimulation::HostSimulation(std::uint64_t seed, Trace::Mode trace) : random_{seed}, trace_{trace, loop_} {
  daemon_ = std::make_unique<SimDaemon>(draw_daemon(), loop_, network_, random_, faults_, trace_, checker_);
  daemon_->set_ready_clients([] { return std::vector<std::string>{}; });
  for (std::size_t i = 0; i < 2; ++i) {
    ClientPlan plan;
    plan.name = format("Tool{}", i);
    plan.requests_steps = chance(50);
    senders_.push_back(std::make_unique<SimClient>(plan, loop_, network_, random_, faults_, trace_, checker_));
    checker_.add_client(plan.name, HistoryChecker::Name::Claimed, {.window = plan.max_inflight});
  }
  host_faults_ = chance(60);
  const auto count = 1 + random_.below(2);
  for (std::size_t i = 0; i < count; ++i)
    hosts_.push_back(
        std::make_unique<SimHost>(draw_host(i), loop_, network_, random_, trace_, checker_, directory_.path()));
  operator_ = std::make_unique<Operator>(loop_, network_, random_, trace_, checker_);
}

HostSimulation::~HostSimulation() {
  operator_.reset();
  hosts_.clear();
  senders_.clear();
  daemon_.reset();
}

FaultPlan HostSimulation::draw_faults() {
  FaultPlan faults;
  if (chance(40)) faults.cut = 1 + random_.below(20);
  if (chance(20)) faults.freeze = 1 + random_.below(8);
  if (chance(30)) faults.max_delay = milliseconds{1 + random_.below(200)};
  if (chance(20)) faults.min_socket_bytes = 64 + random_.below(2'000);
  if (chance(20)) faults.commit_fails = 10 + random_.below(150);
  if (chance(30)) faults.max_commit = milliseconds{5 + random_.below(300)};
  return faults;
}

DaemonPlan HostSimulation::draw_daemon() {
  DaemonPlan plan;
  if (chance(20)) plan.options.limits.session_grace_ms = static_cast<std::int64_t>(random_.below(5'000));
  plan.options.info = {
      .version = "simulated", .storage_driver = "simulated", .persistent = true, .system_token = kSystemToken};
  return plan;
}

SimHostPlan HostSimulation::draw_host(std::size_t index) {
  SimHostPlan plan;
  plan.name = format("Agent{}", index);
  plan.native = chance(35);
  plan.reports_status = chance(60);
  plan.user_types = chance(70);
  if (chance(50)) plan.max_read = milliseconds{1 + random_.below(150)};
  if (chance(50)) plan.max_draw = milliseconds{1 + random_.below(300)};
  if (chance(50)) plan.max_turn = milliseconds{1 + random_.below(6'000)};
  if (chance(40)) plan.tears_frame = random_.below(60);
  if (chance(20)) plan.loses_enter = random_.below(60);
  if (chance(50)) plan.opens_dialog_in_turn = 1 + random_.below(50);
  if (chance(20)) plan.paste_meets_dialog = random_.below(40);
  if (plan.native && chance(40)) plan.inbox_fails = random_.below(60);
  if (!plan.native && chance(40)) plan.replies = random_.below(60);
  plan.has_clients = chance(60);
  return plan;
}

void HostSimulation::plan() {
  const auto messages = 3 + random_.below(25);
  for (std::uint64_t i = 0; i < messages; ++i)
    loop_.call_after(within(kHorizon), [this] {
      const auto& to = hosts_[random_.below(hosts_.size())]->name();
      const auto burst = chance(15) ? 1 + random_.below(8) : 1;
      for (std::uint64_t n = 0; n < burst; ++n)

        senders_[random_.below(2)]->send_message(to, chance(10) ? "chat" : "", 0, chance(8) ? kLongBody : 0);
    });
  const auto changes = random_.below(60);
  for (std::uint64_t i = 0; i < changes; ++i)
    loop_.call_after(within(kHorizon), [this] { hosts_[random_.below(hosts_.size())]->act(); });
  const auto requests = chance(50) ? random_.below(12) : 0;
  for (std::uint64_t i = 0; i < requests; ++i) loop_.call_after(within(kHorizon), [this] { act_as_operator(); });
  const auto faults = random_.below(8);
  for (std::uint64_t i = 0; i < faults; ++i) loop_.call_after(within(kHorizon), [this] { inject_fault(); });
}

void HostSimulation::act_as_operator() {
  if (recovering_) return;
  const auto& agent = hosts_[random_.below(hosts_.size())]->name();
  switch (random_.below(5)) {
    case 0: return operator_->cancel();
    case 1:
    case 2: return operator_->unpause(agent);
    default: return operator_->pause(agent);
  }
}

void HostSimulation::inject_fault() {
  auto& host = *hosts_[random_.below(hosts_.size())];
  switch (random_.below(9)) {
    case 0:
    case 1: return daemon_->die_after(1 + random_.below(60));
    case 2: return daemon_->die_after(0);
    case 3: return daemon_->shut_down();
    case 4:
    case 5: return network_.cut_one();
    case 6: return host_faults_ && chance(30) ? host.end_agent() : void();
    default: return host_faults_ ? host.crash() : void();
  }
}

bool HostSimulation::step(SteadyTime until) {
  if (!loop_.step(until)) return false;
  if (++steps_ > kMaxSteps) checker_.violate("the simulation does not settle: " + unsettled());
  return !checker_.violation();
}

void HostSimulation::undo_holds() {
  for (auto& host : hosts_) host->recover();
  for (auto& sender : senders_) sender->recover();
  std::vector<std::string> names;
  for (const auto& host : hosts_) names.push_back(host->name());
  operator_->release_all(names);
  loop_.call_after(kUndoInterval, [this] { undo_holds(); });
}

void HostSimulation::heal() {
  trace_.line("the faults end");
  recovering_ = true;
  faults_ = FaultPlan{};
  network_.recover();
  if (!daemon_->running()) daemon_->start();
  undo_holds();
}

bool HostSimulation::is_settled() const {
  if (!checker_.is_settled() || !daemon_->idle()) return false;
  if (!std::ranges::all_of(senders_, [](const auto& sender) { return sender->is_idle(); })) return false;
  return std::ranges::all_of(checker_.model().rows(),
                             [](const auto& row) { return simulation::is_settled(row.second); });
}

std::string HostSimulation::unsettled() const {
  std::string text = checker_.unsettled();
  for (const auto& host : hosts_) text += "; " + host->describe();
  for (const auto& [key, row] : checker_.model().rows())
    if (!simulation::is_settled(row)) text += format("; m{} is {}", row.number, records::name_of(row.delivery.state));
  return text;
}

bool HostSimulation::run_until_settled() {
  const auto deadline = loop_.now().steady + kMaxSettling;
  while (!is_settled())
    if (!step(deadline)) return false;
  return true;
}

/// Each delivery in the store has the state of what happened to it.
void HostSimulation::check_deliveries() {
  for (const auto& [key, row] : checker_.model().rows()) {
    if (row.number == 0) continue;
    const auto host =
        std::ranges::find_if(hosts_, [&](const auto& each) { return each->name() == row.delivery.to.value(); });
    if (host == hosts_.end()) continue;
    const auto state = row.delivery.state;
    const auto name = std::string{records::name_of(state)};
    const bool taken = (*host)->has_taken(row.number);
    const bool fetched = row.history.back().reason == kFetched && (*host)->has_read(row.number);
    if (state == DeliveryState::Delivered && !taken && !fetched)
      checker_.violate(format("m{} is recorded as delivered, and {} never had it", row.number, (*host)->name()));
    // A host that died may have written one that then expired or was cancelled.
    const bool ended_meanwhile = state == DeliveryState::Expired || state == DeliveryState::Cancelled;
    const bool counts_as_not_taken = state == DeliveryState::Failed || state == DeliveryState::Dead ||
                                     (ended_meanwhile && (*host)->counts().deaths == 0);
    if (taken && counts_as_not_taken)
      checker_.violate(format("m{} is recorded as {}, and {} had it", row.number, name, (*host)->name()));
    if (state == DeliveryState::InDoubt && !row.expired && (*host)->is_undisturbed())
      checker_.violate(format("m{} is in doubt, and nothing disturbed {}", row.number, (*host)->name()));
  }
}

HostOutcome HostSimulation::run() {
  daemon_->start();
  for (auto& sender : senders_) sender->start();
  for (auto& host : hosts_) host->start();
  operator_->start();
  const auto ready_by = loop_.now().steady + std::chrono::seconds{5};
  while (step(ready_by)) {}
  faults_ = draw_faults();
  plan();
  const auto until = loop_.now().steady + kHorizon;
  while (step(until)) {}
  heal();
  if (!checker_.violation() && !run_until_settled() && !checker_.violation())
    checker_.violate("the simulation does not settle after the faults: " + unsettled());
  if (!checker_.violation()) {
    check_deliveries();
    checker_.check_store(daemon_->store());
  }
  HostOutcome outcome{.violation = checker_.violation(),
                      .trace_hash = trace_.hash(),
                      .steps = steps_,
                      .sent = checker_.sent_count(),
                      .daemon_deaths = daemon_->deaths()};
  for (const auto& host : hosts_) { outcome.hosts.add(host->counts()); }
  for (const auto& [key, row] : checker_.model().rows()) ++outcome.ends[static_cast<std::size_t>(row.delivery.state)];
  return outcome;
}

}  // namespace relay::simulation
