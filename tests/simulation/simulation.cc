#include "tests/simulation/simulation.h"

#include "base/format.h"

namespace relay::simulation {
namespace {

constexpr Nanos kMaxRest = std::chrono::minutes{30};  // within which a healed world must come to rest
constexpr std::uint64_t kMaxSteps = 3'000'000;
constexpr std::int64_t kMaxJumpMs = 20 * 60 * 1000;  // below the lease of a claimed name
constexpr std::size_t kOneFrameMore = 1 << 20;
constexpr Nanos kUntilDead = milliseconds{300'000};  // enough for eight failures, each waiting twice as long
constexpr std::uint64_t kStepsBetweenLooks = 8;
constexpr Nanos kCalm = milliseconds{1'000};  // how often a healed world undoes what keeps mail waiting

}  // namespace

Simulation::Simulation(const WorldOptions& options) : options_{options}, random_{options.seed} {
  weather_ = draw_weather();
  daemon_ = std::make_unique<SimDaemon>(draw_daemon(options), loop_, network_, random_, weather_, trace_, ledger_);
  daemon_->ask_who_is_ready([this] {
    std::vector<std::string> names;
    for (const auto& program : programs_)
      if (program->ready()) names.push_back(program->plan().name);
    return names;
  });
  const auto count = 2 + random_.below(4);
  for (std::size_t i = 0; i < count; ++i)
    programs_.push_back(
        std::make_unique<SimClient>(draw_program(i), loop_, network_, random_, weather_, trace_, ledger_));
  for (const auto& program : programs_) {
    const auto& plan = program->plan();
    ledger_.knows(plan.name, plan.claims_name ? HistoryChecker::Name::Claimed : HistoryChecker::Name::Free,
                  {.modes = plan.modes, .queue = plan.role == Role::Host, .window = plan.max_inflight});
  }
  person_ = std::make_unique<Operator>(loop_, network_, random_, trace_, ledger_);
}

Simulation::~Simulation() {
  person_.reset();
  programs_.clear();
  bad_.clear();
  daemon_.reset();
}

FaultPlan Simulation::draw_weather() {
  FaultPlan weather;
  if (chance(40)) weather.cut = 1 + random_.below(30);
  if (chance(25)) weather.freeze = 1 + random_.below(10);
  if (chance(40)) weather.repeat = 10 + random_.below(400);
  if (chance(25)) weather.slow_reader = 300;
  if (chance(30)) weather.longest_delay = milliseconds{1 + random_.below(300)};
  if (chance(30)) weather.smallest_socket = 64 + random_.below(2'000);
  if (chance(25)) weather.commit_fails = 10 + random_.below(200);
  if (chance(30)) weather.longest_commit = milliseconds{5 + random_.below(400)};
  if (chance(25)) weather.append_fails = 50;
  if (chance(50)) weather.trouble = 20 + random_.below(400);
  if (chance(10)) weather.trouble = 900;  // until they are dead
  if (chance(40)) weather.host_dies = 5 + random_.below(60);
  return weather;
}

DaemonPlan Simulation::draw_daemon(const WorldOptions& options) {
  DaemonPlan plan;
  auto& limits = plan.options.limits;
  if (chance(50)) limits.max_page_rows = 1 + random_.below(8);
  if (chance(20)) limits.max_page_bytes = 200 + random_.below(2'000);
  if (chance(20)) limits.max_backlog = 3 + random_.below(20);
  if (chance(25)) limits.max_uncommitted_bytes = 200 + random_.below(2'000);
  if (chance(20)) limits.max_waiting_bytes = 500 + random_.below(4'000);
  if (chance(15)) {
    limits.rate_per_second = 5 + static_cast<double>(random_.below(50));
    limits.rate_burst = 5 + static_cast<double>(random_.below(20));
  }
  if (chance(20)) limits.session_grace_ms = static_cast<std::int64_t>(random_.below(5'000));
  forgets_names_ = chance(30);
  if (forgets_names_)
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

ProgramPlan Simulation::draw_program(std::size_t index) {
  ProgramPlan plan;
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
  plan.tells_state = plan.role != Role::Plain || chance(30);
  plan.wants_steps = chance(50);
  return plan;
}

void Simulation::plan_talk() {
  const auto count = (10 + random_.below(60)) * options_.size;
  const auto span = weather_.trouble > 500 ? horizon_ / 4 : horizon_;
  for (std::uint64_t i = 0; i < count; ++i) loop_.call_after(within(span), [this] { one_saying(); });
}

void Simulation::one_saying() {
  auto& speaker = *programs_[random_.below(programs_.size())];
  std::string to = programs_[random_.below(programs_.size())]->plan().name;
  std::string topic;
  switch (random_.below(12)) {
    case 0: to = "*"; break;
    case 1: to = "*", topic = "news"; break;
    case 2: to = "#general"; break;
    case 3: to = "Nobody"; break;
    case 4: topic = "chat"; break;
    default: break;
  }
  const auto burst = chance(10) ? 1 + random_.below(15) : 1;
  const auto padding = chance(10) ? random_.below(6'000) : random_.below(60);
  for (std::uint64_t i = 0; i < burst; ++i) speaker.say(to, topic, padding);
}

void Simulation::plan_faults() {
  const auto count = random_.below(9) * options_.size;
  for (std::uint64_t i = 0; i < count; ++i) loop_.call_after(within(horizon_), [this] { one_fault(); });
  const auto rounds = forgets_names_ ? 20 * options_.size : 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    loop_.call_after(within(horizon_), [this] { daemon_->prune_unused_names(); });
    loop_.call_after(within(horizon_), [this] {
      bad_.push_back(std::make_unique<BadClient>(network_, random_, trace_, ledger_, programs_[0]->plan().name, ""));
      bad_.back()->pass_by();
    });
  }
}

void Simulation::plan_steering() {
  const auto words = chance(60) ? random_.below(12) * options_.size : 0;
  for (std::uint64_t i = 0; i < words; ++i)
    loop_.call_after(within(horizon_), [this] {
      if (!healed_) person_->act(names());
    });
  const auto stirs = random_.below(30) * options_.size;
  for (std::uint64_t i = 0; i < stirs; ++i)
    loop_.call_after(within(horizon_), [this] {
      if (!healed_) programs_[random_.below(programs_.size())]->stir();
    });
}

std::vector<std::string> Simulation::names() const {
  std::vector<std::string> all;
  for (const auto& program : programs_) all.push_back(program->plan().name);
  return all;
}

void Simulation::one_fault() {
  auto& program = *programs_[random_.below(programs_.size())];
  switch (random_.below(14)) {
    case 0:
    case 1:
    case 2: return daemon_->die_after(1 + random_.below(60));
    case 3: return daemon_->die_after(0);
    case 4: return daemon_->die_in_commit();
    case 5: return daemon_->shut_down();
    case 6:
    case 7: {
      program.crash(chance(40) ? SimClient::Death::PowerCut : SimClient::Death::Killed);
      ++program_deaths_;
      loop_.call_after(within(milliseconds{3'000}), [&program] { program.start(); });
      return;
    }
    case 8:
    case 9: return network_.cut_one();
    case 10: {
      const auto by = static_cast<std::int64_t>(random_.below(2 * kMaxJumpMs)) - kMaxJumpMs;
      trace_.line("the wall clock jumps by {} ms", by);
      ledger_.clock_jumps();
      return loop_.jump_wall(by);
    }
    case 11:
    case 12: return daemon_->prune_unused_names();
    default: {
      std::string unclaimed;
      for (const auto& one : programs_)
        if (!one->plan().claims_name) unclaimed = one->plan().name;
      bad_.push_back(
          std::make_unique<BadClient>(network_, random_, trace_, ledger_, programs_[0]->plan().name, unclaimed));
      return bad_.back()->start();
    }
  }
}

bool Simulation::step(SteadyTime until) {
  if (!loop_.step(until)) return false;
  ++steps_;
  check_bounds();
  if (steps_ % kStepsBetweenLooks == 0) look_around();
  if (steps_ > kMaxSteps) ledger_.violate("the world never comes to rest: " + ledger_.unsettled());
  return !ledger_.violation();
}

void Simulation::check_bounds() {
  if (network_.most_waiting() > max_output_bytes_ + kOneFrameMore)
    ledger_.violate(
        format("a connection had {} bytes waiting; {} is the limit", network_.most_waiting(), max_output_bytes_));
}

/// At a moment when the daemon waits for nothing but its peers, nothing may sit untouched.
void Simulation::look_around() {
  if (daemon_->idle() && network_.flows_freely(daemon_->max_waiting_bytes())) daemon_->look_for_untouched();
}

/// Everybody can do everything and is idle, nobody is paused, and what waits for a word hears it.
void Simulation::keep_calm() {
  for (auto& program : programs_) program->calm();
  person_->let_go(names());
  loop_.call_after(kCalm, [this] { keep_calm(); });
}

void Simulation::heal() {
  trace_.line("all is well from now on");
  weather_ = FaultPlan{};
  bad_.clear();
  network_.recover();
  healed_ = true;
  if (!daemon_->running()) daemon_->start();
  keep_calm();
}

bool Simulation::run_until_settled() {
  const auto deadline = loop_.now().steady + kMaxRest;
  const auto at_rest = [&] {
    if (!ledger_.settled() || !daemon_->idle()) return false;
    for (const auto& program : programs_)
      if (!program->at_rest()) return false;
    return true;
  };
  while (!at_rest()) {
    for (auto& program : programs_)
      if (!program->running()) program->start();
    if (!step(deadline)) return false;
  }
  return true;
}

Outcome Simulation::run() {
  // Everybody is here once before anything bad happens, so that names are known and claimed.
  const auto storm = std::exchange(weather_, FaultPlan{});
  daemon_->start();
  for (auto& program : programs_) program->start();
  person_->start();
  horizon_ = milliseconds{500 + random_.below(20'000) * options_.size};
  if (storm.trouble > 500) horizon_ += kUntilDead;
  if (run_until_settled()) {
    weather_ = storm;
    plan_talk();
    plan_faults();
    plan_steering();
    const auto until = loop_.now().steady + horizon_;
    while (step(until)) {}
    heal();
    if (!ledger_.violation() && !run_until_settled() && !ledger_.violation()) {
      std::string text = "the healed world does not come to rest: " + ledger_.unsettled();
      for (const auto& program : programs_) text += "; " + program->describe();
      ledger_.violate(text);
    }
    if (!ledger_.violation()) {
      ledger_.check_store(daemon_->store());
      ledger_.check_end(daemon_->store());
    }
  } else if (!ledger_.violation()) {
    ledger_.violate("the world does not even begin");
  }
  Outcome outcome{ledger_.violation(),
                  trace_.hash(),
                  steps_,
                  ledger_.said(),
                  ledger_.acknowledged_count(),
                  ledger_.handed_up_count(),
                  daemon_->deaths(),
                  program_deaths_,
                  ledger_.surfaced_count(),
                  ledger_.looks()};
  outcome.damages = daemon_->damages();
  outcome.lost = ledger_.lost_count();
  for (const auto& [key, row] : ledger_.book().rows()) ++outcome.ends[static_cast<std::size_t>(row.delivery.state)];
  return outcome;
}

}  // namespace relay::simulation
