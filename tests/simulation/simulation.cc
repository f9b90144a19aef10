#include "tests/simulation/simulation.h"

#include "base/format.h"

namespace relay::simulation {
namespace {

constexpr Nanos kMaxSettling = std::chrono::minutes{30};  // after the faults, everything settles within this
constexpr std::uint64_t kMaxSteps = 3'000'000;
constexpr std::int64_t kMaxJumpMs = 20 * 60 * 1000;  // below the lease of a claimed name
constexpr std::size_t kOneFrameMore = 1 << 20;
constexpr Nanos kUntilDead = milliseconds{300'000};  // enough for eight failures, each waiting twice as long
constexpr std::uint64_t kStepsBetweenChecks = 8;
constexpr Nanos kUndoInterval =
    milliseconds{1'000};  // after the faults: how often everything that holds deliveries is undone

}  // namespace

Simulation::Simulation(const SimulationOptions& options) : options_{options}, random_{options.seed} {
  faults_ = draw_faults();
  daemon_ = std::make_unique<SimDaemon>(draw_daemon(options), loop_, network_, random_, faults_, trace_, checker_);
  daemon_->set_ready_clients([this] {
    std::vector<std::string> names;
    for (const auto& client : clients_)
      if (client->ready()) names.push_back(client->plan().name);
    return names;
  });
  const auto count = 2 + random_.below(4);
  for (std::size_t i = 0; i < count; ++i)
    clients_.push_back(
        std::make_unique<SimClient>(draw_client(i), loop_, network_, random_, faults_, trace_, checker_));
  for (const auto& client : clients_) {
    const auto& plan = client->plan();
    checker_.add_client(plan.name, plan.claims_name ? HistoryChecker::Name::Claimed : HistoryChecker::Name::Free,
                        {.modes = plan.modes, .queue = plan.role == Role::Host, .window = plan.max_inflight});
  }
  operator_ = std::make_unique<Operator>(loop_, network_, random_, trace_, checker_);
}

Simulation::~Simulation() {
  operator_.reset();
  clients_.clear();
  bad_.clear();
  daemon_.reset();
}

FaultPlan Simulation::draw_faults() {
  FaultPlan faults;
  if (chance(40)) faults.cut = 1 + random_.below(30);
  if (chance(25)) faults.freeze = 1 + random_.below(10);
  if (chance(40)) faults.repeat = 10 + random_.below(400);
  if (chance(25)) faults.slow_reader = 300;
  if (chance(30)) faults.max_delay = milliseconds{1 + random_.below(300)};
  if (chance(30)) faults.min_socket_bytes = 64 + random_.below(2'000);
  if (chance(25)) faults.commit_fails = 10 + random_.below(200);
  if (chance(30)) faults.max_commit = milliseconds{5 + random_.below(400)};
  if (chance(25)) faults.append_fails = 50;
  if (chance(50)) faults.abnormal_receipts = 20 + random_.below(400);
  if (chance(10)) faults.abnormal_receipts = 900;  // until they are dead
  if (chance(40)) faults.host_crashes = 5 + random_.below(60);
  return faults;
}

DaemonPlan Simulation::draw_daemon(const SimulationOptions& options) {
  DaemonPlan plan;
  auto& limits = plan.options.limits;
  if (chance(50)) limits.max_page_rows = 1 + random_.below(8);
  if (chance(20)) limits.max_page_bytes = 200 + random_.below(2'000);
  if (chance(20)) limits.max_backlog = 3 + random_.below(20);
  if (chance(25)) limits.max_uncommitted_bytes = 200 + random_.below(2'000);
  if (chance(20)) limits.max_queued_bytes = 500 + random_.below(4'000);
  if (chance(15)) {
    limits.rate_per_second = 5 + static_cast<double>(random_.below(50));
    limits.rate_burst = 5 + static_cast<double>(random_.below(20));
  }
  if (chance(20)) limits.session_grace_ms = static_cast<std::int64_t>(random_.below(5'000));
  prunes_names_ = chance(30);
  if (prunes_names_)
    limits.session_grace_ms = static_cast<std::int64_t>(random_.below(1'000));  // then names are unused
  plan.options.info = {
      .version = "simulated", .storage_driver = "simulated", .persistent = true, .system_token = kSystemToken};
  max_output_bytes_ = plan.options.max_output_bytes;
  plan.store = options.store.value_or(chance(5) ? StoreKind::Sqlite : StoreKind::Memory);
  plan.durability = chance(70) ? store::Durability::Power : store::Durability::Process;
  if (options.damage) plan.store = StoreKind::Sqlite;
  plan.damages = plan.store == StoreKind::Sqlite && (options.damage || chance(30));
  return plan;
}

ClientPlan Simulation::draw_client(std::size_t index) {
  ClientPlan plan;
  plan.durable = index < 2 || chance(60);
  plan.claims_name = plan.durable;
  plan.name = format("{}{}", plan.durable ? "Host" : "Tool", index);
  plan.acknowledges_late = chance(40);
  plan.subscribes = chance(50);
  plan.numbering = chance(50) ? client::Numbering::Epoch : client::Numbering::RandomIds;
  plan.sync = chance(50) ? client::SyncOn::EachAdd : client::SyncOn::Transmission;
  if (chance(50)) plan.max_inflight = static_cast<std::uint32_t>(1 + random_.below(6));
  if (chance(10)) plan.outbox_entries = 3 + random_.below(10);
  if (chance(60)) {
    plan.role = plan.durable && chance(60) ? Role::Host : Role::Callback;
    plan.modes = protocol::DeliveryModes{};
    const bool all = chance(60);
    for (const auto mode : protocol::kDeliveryModes)
      if (all || chance(60)) plan.modes->add(mode);
  }
  plan.reports_state = plan.role != Role::Plain || chance(30);
  plan.requests_steps = chance(50);
  return plan;
}

void Simulation::plan_messages() {
  const auto count = (10 + random_.below(60)) * options_.size;
  const auto span = faults_.abnormal_receipts > 500 ? horizon_ / 4 : horizon_;
  for (std::uint64_t i = 0; i < count; ++i) loop_.call_after(within(span), [this] { send_random_message(); });
}

void Simulation::send_random_message() {
  auto& sender = *clients_[random_.below(clients_.size())];
  std::string to = clients_[random_.below(clients_.size())]->plan().name;
  std::string topic;
  switch (random_.below(12)) {
    case 0: to = "*"; break;
    case 1: to = "*", topic = "news"; break;
    case 2: to = "#general"; break;
    case 3: to = "Unknown"; break;
    case 4: topic = "chat"; break;
    default: break;
  }
  const auto burst = chance(10) ? 1 + random_.below(15) : 1;
  const auto padding = chance(10) ? random_.below(6'000) : random_.below(60);
  for (std::uint64_t i = 0; i < burst; ++i) sender.send_message(to, topic, padding);
}

void Simulation::plan_faults() {
  const auto count = random_.below(9) * options_.size;
  for (std::uint64_t i = 0; i < count; ++i) loop_.call_after(within(horizon_), [this] { inject_fault(); });
  const auto rounds = prunes_names_ ? 20 * options_.size : 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    loop_.call_after(within(horizon_), [this] { daemon_->prune_unused_names(); });
    loop_.call_after(within(horizon_), [this] {
      bad_.push_back(std::make_unique<BadClient>(network_, random_, trace_, checker_, clients_[0]->plan().name, ""));
      bad_.back()->visit();
    });
  }
}

void Simulation::plan_operator() {
  const auto words = chance(60) ? random_.below(12) * options_.size : 0;
  for (std::uint64_t i = 0; i < words; ++i)
    loop_.call_after(within(horizon_), [this] {
      if (!healed_) operator_->act(names());
    });
  const auto changes = random_.below(30) * options_.size;
  for (std::uint64_t i = 0; i < changes; ++i)
    loop_.call_after(within(horizon_), [this] {
      if (!healed_) clients_[random_.below(clients_.size())]->act();
    });
}

std::vector<std::string> Simulation::names() const {
  std::vector<std::string> all;
  for (const auto& client : clients_) all.push_back(client->plan().name);
  return all;
}

void Simulation::inject_fault() {
  auto& client = *clients_[random_.below(clients_.size())];
  switch (random_.below(14)) {
    case 0:
    case 1:
    case 2: return daemon_->die_after(1 + random_.below(60));
    case 3: return daemon_->die_after(0);
    case 4: return daemon_->die_in_commit();
    case 5: return daemon_->shut_down();
    case 6:
    case 7: {
      client.crash(chance(40) ? SimClient::Death::PowerCut : SimClient::Death::Killed);
      ++client_deaths_;
      loop_.call_after(within(milliseconds{3'000}), [&client] { client.start(); });
      return;
    }
    case 8:
    case 9: return network_.cut_one();
    case 10: {
      const auto by = static_cast<std::int64_t>(random_.below(2 * kMaxJumpMs)) - kMaxJumpMs;
      trace_.line("the wall clock jumps by {} ms", by);
      checker_.on_clock_jump();
      return loop_.jump_wall(by);
    }
    case 11:
    case 12: return daemon_->prune_unused_names();
    default: {
      std::string unclaimed;
      for (const auto& one : clients_)
        if (!one->plan().claims_name) unclaimed = one->plan().name;
      bad_.push_back(
          std::make_unique<BadClient>(network_, random_, trace_, checker_, clients_[0]->plan().name, unclaimed));
      return bad_.back()->start();
    }
  }
}

bool Simulation::step(SteadyTime until) {
  if (!loop_.step(until)) return false;
  ++steps_;
  check_bounds();
  if (steps_ % kStepsBetweenChecks == 0) check_liveness();
  if (steps_ > kMaxSteps) checker_.violate("the simulation does not settle: " + checker_.unsettled());
  return !checker_.violation();
}

void Simulation::check_bounds() {
  if (network_.max_waiting() > max_output_bytes_ + kOneFrameMore)
    checker_.violate(
        format("a connection had {} bytes waiting; {} is the limit", network_.max_waiting(), max_output_bytes_));
}

/// When the daemon waits only for its peers, every delivery that can be sent was sent.
void Simulation::check_liveness() {
  if (daemon_->idle() && network_.flows_freely(daemon_->max_queued_bytes())) daemon_->check_pending();
}

/// Every session is idle and capable, none is paused, and held deliveries are released.
void Simulation::undo_holds() {
  for (auto& client : clients_) client->recover();
  operator_->release_all(names());
  loop_.call_after(kUndoInterval, [this] { undo_holds(); });
}

void Simulation::heal() {
  trace_.line("the faults end");
  faults_ = FaultPlan{};
  bad_.clear();
  network_.recover();
  healed_ = true;
  if (!daemon_->running()) daemon_->start();
  undo_holds();
}

bool Simulation::run_until_settled() {
  const auto deadline = loop_.now().steady + kMaxSettling;
  const auto is_idle = [&] {
    if (!checker_.is_settled() || !daemon_->idle()) return false;
    for (const auto& client : clients_)
      if (!client->is_idle()) return false;
    return true;
  };
  while (!is_idle()) {
    for (auto& client : clients_)
      if (!client->running()) client->start();
    if (!step(deadline)) return false;
  }
  return true;
}

Outcome Simulation::run() {
  // Every client connects once before the faults start, so that names exist and are claimed.
  const auto faults = std::exchange(faults_, FaultPlan{});
  daemon_->start();
  for (auto& client : clients_) client->start();
  operator_->start();
  horizon_ = milliseconds{500 + random_.below(20'000) * options_.size};
  if (faults.abnormal_receipts > 500) horizon_ += kUntilDead;
  if (run_until_settled()) {
    faults_ = faults;
    plan_messages();
    plan_faults();
    plan_operator();
    const auto until = loop_.now().steady + horizon_;
    while (step(until)) {}
    heal();
    if (!checker_.violation() && !run_until_settled() && !checker_.violation()) {
      std::string text = "the simulation does not settle after the faults: " + checker_.unsettled();
      for (const auto& client : clients_) text += "; " + client->describe();
      checker_.violate(text);
    }
    if (!checker_.violation()) {
      checker_.check_store(daemon_->store());
      checker_.check_end(daemon_->store());
    }
  } else if (!checker_.violation()) {
    checker_.violate("the simulation does not start");
  }
  Outcome outcome{checker_.violation(),
                  trace_.hash(),
                  steps_,
                  checker_.sent_count(),
                  checker_.acknowledged_count(),
                  checker_.received_count(),
                  daemon_->deaths(),
                  client_deaths_,
                  checker_.injected_count(),
                  checker_.check_count()};
  outcome.damages = daemon_->damages();
  outcome.lost = checker_.lost_count();
  for (const auto& [key, row] : checker_.model().rows()) ++outcome.ends[static_cast<std::size_t>(row.delivery.state)];
  return outcome;
}

}  // namespace relay::simulation
