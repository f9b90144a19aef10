#include "tests/simulation/sim_host.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/format.h"
#include "client/outbox.h"
#include "host/delivery/injection.h"
#include "tests/simulation/sim_client.h"

namespace relay::simulation {
namespace {

using host::testing::AgentKey;
using host::testing::AgentView;
using Kind = AgentKey::Kind;

constexpr char kUserCharacter = '~';  // in no message
constexpr Millis kMaxRestartDelay{3'000};
constexpr Millis kMaxTranscriptDelay{300};
constexpr std::size_t kMinBodyInFile = 400;
constexpr std::size_t kMaxHookBytes = 4'096;
constexpr Millis kCalmDraft{12'000};  // after the faults, the user clears text that stays this long

/// The numbers of the messages whose bodies a prompt holds: `…]: m17`.
std::vector<std::uint64_t> numbers_in(std::string_view prompt) {
  constexpr std::string_view kBefore = "]: m";
  std::vector<std::uint64_t> all;
  for (auto at = prompt.find(kBefore); at != std::string_view::npos; at = prompt.find(kBefore, at + 1)) {
    std::uint64_t number = 0;
    const auto digits = prompt.substr(at + kBefore.size());
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc{}) all.push_back(number);
  }
  return all;
}

}  // namespace

/// A transcript, and an inbox that takes messages between turns.
class SimAdapter final : public adapters::Adapter {
 public:
  explicit SimAdapter(SimHost& owner) : owner_{owner} {}

  void prepare(pty::Command&, const adapters::LaunchContext&) override {}
  void start(adapters::Listener& listener, pid_t) override { listener_ = &listener; }
  [[nodiscard]] adapters::NativeCapabilities capabilities() const override {
    adapters::NativeCapabilities can{.output = adapters::via::kTranscript};
    can.by(protocol::DeliveryMode::OnIdle) = {.timing = adapters::DeliveryTiming::WhenIdle,
                                              .via = adapters::via::kInbox};
    can.by(protocol::DeliveryMode::NextMessage) = {.timing = adapters::DeliveryTiming::OnHook,
                                                   .via = adapters::via::kHook};
    return can;
  }
  void deliver(const adapters::NativeDelivery& delivery, OnAccepted done) override;
  void answer(const std::string&, const adapters::PromptAnswer&, OnAnswered done) override { done(fail("no")); }

  /// The agent took a prompt: its hook fetches the deliveries for it, and its transcript shows both soon.
  void on_prompt(const std::string& prompt) {
    const auto context = listener_->deliveries().take_pending(protocol::DeliveryMode::NextMessage, kMaxHookBytes);
    if (!context.empty()) owner_.record_prompt(context, "hook");
    later(owner_.within(kMaxTranscriptDelay), [this, prompt, context] {
      if (!context.empty()) listener_->deliveries().on_model_input(context, adapters::via::kHook, "UserPromptSubmit");
      listener_->deliveries().on_model_input(prompt, adapters::via::kTranscript, "entry");
    });
  }

 private:
  void later(Millis delay, net::Task task) {
    owner_.loop_.call_after(delay, [alive = lifetime_.watch(), task = std::move(task)]() mutable {
      if (alive) task();
    });
  }

  SimHost& owner_;
  adapters::Listener* listener_ = nullptr;
  Lifetime lifetime_;
};

struct SimHost::Process {
  int number = 0;
  std::unique_ptr<client::Outbox> outbox;
  host::testing::FakeAgent* agent = nullptr;
  host::testing::FakeUserTerminal* user = nullptr;
  SimAdapter* adapter = nullptr;
  std::unique_ptr<host::Host> host;  // owns agent, user and adapter
};

void SimAdapter::deliver(const adapters::NativeDelivery& delivery, OnAccepted done) {
  auto& agent = *owner_.process_->agent;
  if (agent.shown().dialog) owner_.violate("a message is delivered while a dialog is open");
  const bool fails = owner_.chance(owner_.plan_.inbox_fails);
  later(owner_.within(kMaxTranscriptDelay),
        [this, &agent, fails, text = delivery.text, done = std::move(done)]() mutable {
          if (fails) return done(fail("the inbox is closed"));
          done({});
          later(owner_.within(kMaxTranscriptDelay), [&agent, text] { agent.receive(text); });
        });
}

SimHost::SimHost(SimHostPlan plan, VirtualLoop& loop, net::Network& network, Random& random, Trace& trace,
                 HistoryChecker& checker, std::string directory)
    : plan_{std::move(plan)},
      loop_{loop},
      network_{network},
      random_{random},
      trace_{trace},
      checker_{checker},
      directory_{std::move(directory)},
      clients_{loop,    network,    random,        trace,
               checker, plan_.name, socket_path(), [this](std::uint64_t number) { record_taken(number, "fetch"); }} {}

SimHost::~SimHost() = default;

void SimHost::violate(const std::string& what) { checker_.violate(format("{}: {}", plan_.name, what)); }

void SimHost::start() {
  if (process_) return;
  auto process = std::make_unique<Process>();
  process->number = ++process_count_;
  last_key_ = {};  // another terminal
  last_paste_.clear();
  auto outbox = client::Outbox::open(disk_, "outbox", {}, client::SyncOn::Transmission, random_);
  if (!outbox) return violate("its outbox cannot be opened: " + outbox.error().message());
  process->outbox = std::move(*outbox);
  process_ = std::move(process);
  trace_.line("{} starts process {}", plan_.name, process_->number);
  process_->host = std::make_unique<host::Host>(
      host::HostEnvironment{.loop = loop_, .network = network_, .random = random_, .outbox = *process_->outbox},
      make_options(*process_));
  if (const auto started = process_->host->start(); !started)
    violate("it does not start: " + started.error().message());
}

host::HostOptions SimHost::make_options(Process& process) {
  host::HostOptions options;
  options.record = {.id = format("{:08x}", random_.below(1U << 30U)), .name = plan_.name, .cli = "fake_agent"};
  options.paths.workspace_socket = kSocketPath;
  options.paths.project_root = directory_;
  options.paths.records = directory_;
  options.paths.socket = socket_path();
  options.paths.state_directory = &disk_;
  options.paths.intent_file = "intent";
  options.paths.long_texts = {"messages"};
  options.paths.outgoing = {"outbox"};
  options.profile = host::testing::FakeAgent::profile();
  options.claim_token = "claim of " + plan_.name;
  if (plan_.native) {
    auto adapter = std::make_unique<SimAdapter>(*this);
    process.adapter = adapter.get();
    options.adapter = std::move(adapter);
  }
  options.start = [this, &process](pty::WindowSize size,
                                   pty::ProgramListener& listener) -> Result<std::unique_ptr<pty::Program>> {
    auto made = std::make_unique<host::testing::FakeAgent>(loop_, listener, size, agent_options());
    process.agent = made.get();
    return made;
  };
  options.open_user_terminal =
      [&process](pty::UserTerminalListener& listener) -> Result<std::unique_ptr<pty::UserTerminal>> {
    auto made = std::make_unique<host::testing::FakeUserTerminal>(listener);
    process.user = made.get();
    return made;
  };
  options.on_finished = [this, number = process.number] {
    loop_.post([this, number] {
      if (!process_ || process_->number != number) return;
      trace_.line("{} has finished", plan_.name);
      process_->host->close();
      process_.reset();
      clients_.on_host_ended();
      disk_.crash();
      restart_soon();
    });
  };
  return options;
}

host::testing::FakeAgent::Options SimHost::agent_options() {
  host::testing::FakeAgent::Options options;
  options.read_delay = [this] { return within(plan_.max_read); };
  options.draw_delay = [this] { return within(plan_.max_draw); };
  options.turn = [this] { return Millis{50} + within(plan_.max_turn); };
  options.tears_frame = [this] { return chance(plan_.tears_frame); };
  options.loses_enter = [this] { return !recovering_ && chance(plan_.loses_enter); };
  options.opens_dialog_in_turn = [this] { return !recovering_ && chance(plan_.opens_dialog_in_turn); };
  options.paste_meets_dialog = [this] { return !recovering_ && chance(plan_.paste_meets_dialog); };
  options.dialog_command = [this] { return format("step{}x", ++dialogs_); };
  options.on_dialog_closed = [this](const std::string& command, bool approved, bool) {
    clients_.on_dialog_closed(command, approved);
  };
  options.reports_status = plan_.reports_status;
  options.on_written = [this](const AgentKey& key, const AgentView& shown) { on_written(key, shown); };
  options.on_submit = [this](const std::string& prompt, bool by_host) { on_prompt(prompt, by_host ? "host" : "user"); };
  options.on_receive = [this](const std::string& prompt) { on_prompt(prompt, "inbox"); };
  options.on_dialog_key = [this](const AgentKey& key) {
    if (!key.by_host() || key.dialog_shown) return;
    ++counts_.met_dialog;
    if (key.kind == Kind::Enter) ++counts_.answered_dialog;
    trace_.line("{}: a key of the host meets a dialog that was not drawn when it was written", plan_.name);
  };
  return options;
}

/// Checks each key that the host writes.
void SimHost::on_written(const AgentKey& key, const AgentView& shown) {
  if (!key.by_host()) return;
  const auto now = loop_.now().steady;
  trace_.line("{}: the host writes {}", plan_.name,
              key.kind == Kind::Paste ? "«" + key.text + "»" : format("key {}", static_cast<int>(key.kind)));
  if (shown.dialog) {
    if (!clients_.explains(key, shown))
      violate(format("the host types into a dialog: key {}", static_cast<int>(key.kind)));
    return;
  }
  switch (key.kind) {
    case Kind::Paste:
      last_paste_ = key.text;
      if (!shown.composer.empty()) violate(format("the host pastes into a draft: '{}'", shown.composer));
      if (now < last_key_ + host::kUserIdleTime) violate("the host pastes right after a key of the user's");
      return;
    case Kind::Enter: {
      const auto& half_drawn = process_->agent->half_drawn();
      if (shown.composer != last_paste_ && (!half_drawn || half_drawn->composer != last_paste_))
        violate(format("the host presses Enter on '{}' after it pasted '{}'", shown.composer, last_paste_));
      return;
    }
    case Kind::Backspace:
      if (shown.composer.contains(kUserCharacter)) violate(format("the host erases the draft '{}'", shown.composer));
      return;
    case Kind::Interrupt:
      if (!shown.composer.empty()) violate("the host interrupts a turn while the user has a draft");
      return;
    default: return violate("the host presses a key without a request");
  }
}

void SimHost::on_prompt(const std::string& prompt, std::string_view by) {
  record_prompt(prompt, by);
  if (process_->adapter != nullptr) process_->adapter->on_prompt(prompt);
}

void SimHost::record_prompt(const std::string& prompt, std::string_view by) {
  trace_.line("{}: the agent takes a prompt of {}: «{}»", plan_.name, by, prompt);
  if (by == "host" && prompt.contains(kUserCharacter)) violate(format("the host sent the draft in '{}'", prompt));
  for (const auto number : numbers_in(prompt)) {
    record_taken(number, by);
    check_file(number, prompt);
    if (by != "user" && checker_.is_paused_since_stored(number, plan_.name))
      violate(format("m{} reaches the agent by {}, which is paused", number, by));
  }
  if (!chance(plan_.replies) || process_ == nullptr) return;
  const auto number = checker_.on_send({plan_.name, "Tool0", "", false});
  checker_.on_unconfirmed(number);
  ++counts_.sent_by_agent;
  process_->agent->set_reply(format("@relay:Tool0 {}", HistoryChecker::body_of(number)));
}

void SimHost::record_taken(std::uint64_t number, std::string_view by) {
  ++counts_.prompts;
  if (by == "user") ++counts_.sent_by_user;
  if (by == "inbox") ++counts_.by_inbox;
  const auto [before, first] = taken_.emplace(number, by);
  if (!first) violate(format("m{} reaches the agent by {} after it came by {}", number, by, before->second));
}

/// A long message names a file with its body.
void SimHost::check_file(std::uint64_t number, std::string_view prompt) {
  const auto body = checker_.sent_body(number);
  if (body.size() < kMinBodyInFile || prompt.contains(body)) return;
  constexpr std::string_view kBefore = " in the file ";
  const auto at = prompt.find(kBefore, prompt.find(format("]: m{} ", number)));
  if (at == std::string_view::npos) return violate(format("m{} is long and the prompt names no file", number));
  const auto path = prompt.substr(at + kBefore.size());
  std::ifstream file{std::string{path.substr(0, path.find(']'))}, std::ios::binary};
  const std::string content{std::istreambuf_iterator<char>{file}, {}};
  if (content != body) violate(format("the file of m{} has {} bytes of {}", number, content.size(), body.size()));
  ++counts_.files;
}

void SimHost::crash() {
  if (!process_) return;
  trace_.line("{} is killed", plan_.name);
  ++counts_.deaths;
  process_.reset();
  clients_.on_host_ended();
  disk_.crash();
  restart_soon();
}

void SimHost::restart_soon() {
  loop_.call_after(within(kMaxRestartDelay), [this] { start(); });
}

void SimHost::end_agent() {
  if (!process_) return;
  trace_.line("the agent of {} exits", plan_.name);
  ++counts_.deaths;
  process_->agent->exit(0);
}

void SimHost::type(std::string_view keys) {
  if (!process_ || process_->agent->has_exited()) return;
  last_key_ = loop_.now().steady;
  trace_.line("{}: the user types {}", plan_.name,
              keys == host::testing::kUserEnter    ? "Enter"
              : keys == host::testing::kUserClear  ? "Ctrl-U"
              : keys == host::testing::kUserEscape ? "Escape"
                                                   : keys);
  clients_.on_user_key();
  process_->user->type(keys);
}

/// Some characters, then Enter, Ctrl-U, or a draft that is left for later.
void SimHost::type_burst(std::size_t left) {
  if (recovering_) return;
  if (left == 0) {
    const auto draw = random_.below(3);
    if (draw < 2) type(draw == 0 ? host::testing::kUserEnter : host::testing::kUserClear);
    return;
  }
  type(std::string(1 + random_.below(3), kUserCharacter));
  loop_.call_after(Millis{30} + within(milliseconds{400}), [this, left, number = process_count_] {
    if (number == process_count_) type_burst(left - 1);
  });
}

void SimHost::act() {
  if (!process_ || recovering_) return;
  if (plan_.has_clients && chance(40)) return act_as_client();
  const bool dialog = process_->agent->shown().dialog;
  switch (random_.below(10)) {
    case 0:
    case 1:
    case 2:
      if (plan_.user_types) type_burst(1 + random_.below(6));
      return;
    case 3:
      if (plan_.user_types) type(host::testing::kUserClear);
      return;
    case 4:
      if (plan_.user_types) type(host::testing::kUserEnter);
      return;
    case 5:
    case 6:
      if (plan_.opens_dialog_in_turn > 0) process_->agent->open_dialog();
      return;
    default:
      if (dialog) type(random_.below(2) == 0 ? host::testing::kUserEnter : host::testing::kUserEscape);
      return;
  }
}

void SimHost::act_as_client() {
  switch (random_.below(8)) {
    case 0: return clients_.send_input();
    case 1:
    case 2:
    case 3: return clients_.fetch();
    default: return clients_.answer_prompt();
  }
}

SimHostCounts SimHost::counts() const {
  auto all = counts_;
  all.answered = clients_.answered();
  all.fetched = clients_.fetched();
  return all;
}

void SimHostCounts::add(const SimHostCounts& other) {
  prompts += other.prompts;
  by_inbox += other.by_inbox;
  sent_by_user += other.sent_by_user;
  met_dialog += other.met_dialog;
  answered_dialog += other.answered_dialog;
  deaths += other.deaths;
  answered += other.answered;
  fetched += other.fetched;
  files += other.files;
  sent_by_agent += other.sent_by_agent;
}

void SimHost::recover() {
  recovering_ = true;
  if (!process_) return;
  const auto now = loop_.now().steady;
  const auto& shown = process_->agent->shown();
  if (shown.dialog) return type(host::testing::kUserEscape);
  const bool old_draft = !shown.composer.empty() && now - last_key_ > kCalmDraft && now - cleared_at_ > kCalmDraft;
  if (shown.composer.contains(kUserCharacter) || old_draft) {
    cleared_at_ = now;
    type(host::testing::kUserClear);
  }
}

bool SimHost::is_undisturbed() const {
  return !plan_.user_types && counts_.deaths == 0 && plan_.loses_enter == 0 && plan_.opens_dialog_in_turn == 0 &&
         plan_.paste_meets_dialog == 0 && !plan_.native;
}

std::string SimHost::describe() const {
  if (!process_) return plan_.name + " is not running";
  const auto& shown = process_->agent->shown();
  return format("{}: composer '{}'{}{}", plan_.name, shown.composer, shown.dialog ? ", a dialog" : "",
                shown.working ? ", working" : "");
}

}  // namespace relay::simulation
