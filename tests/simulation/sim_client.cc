#include "tests/simulation/sim_client.h"

#include "base/format.h"
#include "protocol/contract.h"
#include "text/json_writer.h"

namespace relay::simulation {
namespace {

constexpr Nanos kMaxHesitation = milliseconds{3'000};
constexpr Nanos kMaxStep = milliseconds{400};  // of a host, between two of them
constexpr std::size_t kMaxKeys = 20;

using protocol::DeliveryMode;
using protocol::ReceiptStatus;

}  // namespace

SimClient::SimClient(ClientPlan plan, VirtualLoop& loop, net::Network& network, Random& random, const FaultPlan& faults,
                     Trace& trace, HistoryChecker& checker)
    : plan_{std::move(plan)},
      loop_{loop},
      network_{network},
      random_{random},
      faults_{faults},
      trace_{trace},
      checker_{checker} {}

SimClient::~SimClient() = default;

void SimClient::start() {
  if (process_) return;
  auto process = std::make_shared<Process>();
  process->number = ++process_count_;
  const client::OutboxLimits limits{.max_entries = plan_.outbox_entries};
  if (plan_.durable) {
    disk_.fail_appends = disk_.fail_syncs = 0;
    auto outbox = client::Outbox::open(disk_, "outbox", limits, plan_.sync, random_);
    if (!outbox) return checker_.violate(plan_.name + " cannot open its outbox: " + outbox.error().message());
    if ((*outbox)->recovery().damaged_bytes > 0) checker_.violate(plan_.name + " finds its outbox damaged");
    process->outbox = std::move(*outbox);
  } else {
    process->outbox = std::make_unique<client::Outbox>(plan_.numbering, limits, random_);
  }
  if (plan_.role == Role::Host) {
    process->intent = std::make_unique<host::IntentLog>(disk_, "intent");
    if (const auto read = process->intent->load(); !read)
      return checker_.violate(plan_.name + " cannot read its notes: " + read.error().message());
  }
  trace_.line("{} starts process {} with {} messages in its outbox", plan_.name, process->number,
              process->outbox->size());
  client::LinkOptions options;
  options.socket_path = kSocketPath;
  options.hello.agent = plan_.name;
  options.hello.capabilities.max_inflight = plan_.max_inflight;
  options.hello.capabilities.modes = plan_.modes;
  options.hello.capabilities.queue = plan_.role == Role::Host;
  options.hello.capabilities.pause = plan_.role == Role::Host;
  options.hello.capabilities.receipt_steps = plan_.requests_steps;
  if (plan_.modes) {
    protocol::AgentSessionCapabilities contract;
    contract.delivery = {.modes = *plan_.modes, .queue = plan_.role == Role::Host};
    contract.lifecycle.pause = plan_.role == Role::Host;
    if (const auto declared = protocol::declare(contract, options.hello.capabilities); !declared)
      checker_.violate(declared.error().message());
  }
  if (plan_.claims_name) options.hello.claim_token = "claim of " + plan_.name;
  options.hello.resume_token = plan_.durable ? stored_token_ : "";
  options.timeout = client::RetryLimit::never_give_up();
  if (stores_positions()) options.positions = stored_positions_.all();
  if (stores_positions()) options.store_id = stored_store_id_;
  client::LinkListener& listener = *this;
  process->link =
      std::make_unique<client::Link>(loop_, network_, random_, *process->outbox, std::move(options), listener);
  process_ = process;
  process->link->start();
}

void SimClient::crash(Death death) {
  if (!process_) return;
  if (plan_.role == Role::Host) death = Death::Killed;  // a power cut ends its agent as well
  checker_.on_session_lost(plan_.name, {});
  trace_.line("{} dies{}", plan_.name, death == Death::PowerCut ? " in a power cut" : "");
  if (!plan_.durable) checker_.mark_unknown(plan_.name);
  // Without a sync per message, messages that were not transmitted may be lost; the contract allows it.
  if (death == Death::PowerCut && plan_.sync == client::SyncOn::Transmission) checker_.mark_unknown(plan_.name);
  process_.reset();
  if (death == Death::PowerCut)
    disk_.cut_power(random_);
  else
    disk_.crash();
}

void SimClient::send_message(const std::string& to, const std::string& topic, std::size_t padding, std::size_t filler) {
  if (!process_) return;
  const bool ordered = plan_.durable || plan_.numbering == client::Numbering::Epoch;
  const bool short_ttl = random_.below(20) == 0;
  const bool channel = to.starts_with('#');
  const bool has_options = random_.below(3) == 0;
  std::string options, key;
  if (has_options) {
    if (random_.below(4) == 0) {  // sometimes a key that was used before
      if (keys_.size() < kMaxKeys && random_.below(2) == 0) keys_.push_back(format("key{}", keys_.size()));
      if (!keys_.empty()) key = keys_[random_.below(keys_.size())];
    }
    text::JsonWriter writer;
    writer.field("mode", name_of(protocol::kDeliveryModes[random_.below(std::size(protocol::kDeliveryModes))]));
    if (random_.below(3) == 0) writer.field("priority", "urgent");
    if (short_ttl && random_.below(2) == 0)
      writer.field("deadline", loop_.now().wall + static_cast<WallMs>(1 + random_.below(5'000)));
    writer.optional("idempotencyKey", key);
    options = writer.take();
  }
  const auto number = checker_.on_send({plan_.name, to, topic, ordered, short_ttl, key, filler});
  client::OutgoingMessage message{
      .to = channel ? "" : to,
      .payload = {},
      .topic = topic,
      .payload_meta = {},
      .type = channel ? protocol::MessageType::ChannelMessage : protocol::MessageType::Send};
  message.payload =
      format(R"({{"kind":"message","body":"{}"{},"data":{{"p":"{}"}}}})", HistoryChecker::body_of(number, filler),
             channel ? format(R"(,"channel":"{}")", to) : "", std::string(padding, 'x'));
  if (short_ttl || has_options) {
    text::JsonWriter meta;
    if (short_ttl && !options.contains("deadline")) meta.field("ttl_ms", 1 + random_.below(5'000));
    if (has_options) meta.raw("delivery", options);
    message.payload_meta = meta.take();
  }
  if (random_.below(60) == 0)
    message.payload = R"({"kind":"message","body":["no text"],"channel":5})";  // refused for good
  if (random_.below(60) == 0 && !has_options && !short_ttl)
    message.payload_meta = R"({"sync":{"correlationId":"c1","blocking":true}})";  // same for all
  if (faults_.append_fails > 0 && random_.below(1000) < faults_.append_fails) {
    if (random_.below(2) == 0)
      disk_.fail_appends = 1;
    else
      disk_.fail_syncs = 1;
  }
  const auto id = process_->link->send(message);
  if (!id) {
    trace_.line("{} cannot send m{}: {}", plan_.name, number, id.error().message());
    return checker_.on_send_failed(number);
  }
  trace_.line("{} sends m{} to {}{}{} as {}", plan_.name, number, to, topic.empty() ? "" : " about ", topic, *id);
  checker_.on_id(number, *id);
}

void SimClient::on_ready(const client::Session& session) {
  trace_.line("{} is ready ({}{})", plan_.name, session.id, session.resumed ? ", resumed" : "");
  stored_token_ = session.resume_token;
  if (!stored_store_id_.empty() && stored_store_id_ != session.store_id) stored_positions_ = client::StreamPositions{};
  stored_store_id_ = session.store_id;
  checker_.on_session(plan_.name, session.id);
  process_->paused = false;  // the daemon sends PAUSE again
  process_->counted = 0;
  ++process_->connection;
  if (plan_.reports_state) report_state("idle", plan_.modes, std::nullopt);
  if (plan_.subscribes && !session.resumed)
    (void)process_->link->send_frame(protocol::MessageType::Subscribe, "{}", "news");
}

void SimClient::on_lost(const std::string& reason, Millis retry_in) {
  checker_.on_session_lost(plan_.name, process_->unsettled);
  trace_.line("{} lost its link ({}), back in {} ms", plan_.name, reason, retry_in.count());
}

void SimClient::on_stopped(const Error& why) {
  trace_.line("{} was stopped: {}", plan_.name, why.message());
  if (plan_.claims_name)
    return checker_.violate_unless_damaged(
        format("{} claimed its name and was stopped: {}", plan_.name, why.message()));
  loop_.post([this, weak = std::weak_ptr{process_}] {
    if (weak.lock() == process_) crash(Death::Killed);
  });
}

void SimClient::remember(const client::DeliveryRef& ref) {
  stored_positions_.advance(ref.topic, ref.from, ref.lane, ref.seq);
}

client::AckMode SimClient::on_incoming(const client::IncomingMessage& incoming) {
  const auto& ref = incoming.ref;
  trace_.line("{} gets {} #{} from {}: {}", plan_.name, ref.id, ref.seq, ref.from,
              incoming.envelope.payload.substr(0, 48));
  if (stores_positions()) remember(ref);
  checker_.on_received(plan_.name, process_->number, stores_positions() ? Memory::Positions : Memory::Nothing, ref,
                       incoming.envelope.payload);
  if (plan_.role == Role::Host) return take_delivery(ref);
  if (!plan_.acknowledges_late || random_.below(3) != 0) return answer(ref);
  process_->unsettled.insert(ref.id);
  // One that expired meanwhile is in our hand only; the daemon has let it go and may send another. So is one of an
  // earlier connection that has not come again on this one.
  const bool counts = incoming.envelope.payload_meta.empty();
  if (counts && ++process_->counted > plan_.max_inflight)
    checker_.violate_unless_damaged(
        format("{} has {} unsettled deliveries; its limit is {}", plan_.name, process_->counted, plan_.max_inflight));
  const auto delay = Nanos{random_.below(static_cast<std::uint64_t>(kMaxHesitation.count()))};
  loop_.call_after(delay, [this, weak = std::weak_ptr{process_}, ref, counts, connection = process_->connection] {
    const auto process = weak.lock();
    if (!process) return;
    process->unsettled.erase(ref.id);
    if (counts && process->connection == connection) --process->counted;
    if (answer(ref) == client::AckMode::Now) process->link->acknowledge(ref);
  });
  return client::AckMode::Later;
}

void SimClient::report(const client::DeliveryRef& ref, const protocol::Receipt& receipt) {
  checker_.on_report(ref, receipt);
  process_->link->report(ref, receipt);
}

std::optional<protocol::Receipt> SimClient::draw_abnormal_receipt() {
  if (!chance(faults_.abnormal_receipts)) return std::nullopt;
  switch (random_.below(4)) {
    case 0: return protocol::Receipt{.status = ReceiptStatus::Failed, .reason = "it was refused"};
    case 1:
      return protocol::Receipt{.status = ReceiptStatus::Deferred,
                               .reason = "not now",
                               .available_at = loop_.now().wall + static_cast<WallMs>(random_.below(4'000))};
    default: return protocol::Receipt{.status = ReceiptStatus::Failed, .reason = "it did not work", .retryable = true};
  }
}

client::AckMode SimClient::answer(const client::DeliveryRef& ref) {
  if (plan_.role == Role::Plain) return client::AckMode::Now;
  if (const auto abnormal_receipts = draw_abnormal_receipt()) {
    report(ref, *abnormal_receipts);
    return client::AckMode::Later;
  }
  if (random_.below(2) == 0) return client::AckMode::Now;
  if (random_.below(3) == 0) report(ref, {.status = ReceiptStatus::Accepted});
  report(ref, {.status = ReceiptStatus::Delivered, .proof = random_.below(3) == 0 ? "seen" : "", .via = "callback"});
  return client::AckMode::Later;
}

// ---------------------------------------------------------------- SESSION_STATE

void SimClient::report_state(const std::string& state, std::optional<protocol::DeliveryModes> modes,
                             std::optional<DeliveryMode> boundary) {
  if (!ready()) return;
  std::string number;
  checker_.on_session_report(plan_.name, {.state = state, .modes = modes, .boundary = boundary}, number);
  text::JsonWriter payload;
  payload.field("state", state)
      .begin_object("capabilities")
      .field("report", number)
      .end();  // the daemon keeps it over a resume
  if (modes) {
    payload.begin_array("modes");
    for (const auto mode : protocol::kDeliveryModes)
      if (modes->has(mode)) payload.element(name_of(mode));
    payload.end();
  }
  if (boundary) payload.field("boundary", *boundary == DeliveryMode::NextMessage ? "message" : "tool-call");
  trace_.line("{} reports {}{} (no. {})", plan_.name, state, boundary ? format(", before {}", name_of(*boundary)) : "",
              number);
  (void)process_->link->send_frame(protocol::MessageType::SessionState, payload.take());
}

void SimClient::act() {
  if (!plan_.reports_state || !ready()) return;
  constexpr const char* kStates[] = {"idle", "active", "blocked", "waiting", "starting"};
  auto modes = plan_.modes;
  if (modes && random_.below(4) == 0) {  // a way broke
    modes = protocol::DeliveryModes{};
    for (const auto mode : protocol::kDeliveryModes)
      if (plan_.modes->has(mode) && random_.below(2) == 0) modes->add(mode);
  }
  std::optional<DeliveryMode> boundary;
  if (random_.below(3) == 0) boundary = random_.below(2) == 0 ? DeliveryMode::NextMessage : DeliveryMode::NextToolCall;
  report_state(kStates[random_.below(std::size(kStates))], modes, boundary);
}

void SimClient::recover() {
  report_state("idle", protocol::DeliveryModes::all(), DeliveryMode::NextMessage);
  report_state("idle", protocol::DeliveryModes::all(), DeliveryMode::NextToolCall);
}

// ---------------------------------------------------------------- a host

/// As the product names it: a second attempt after a failure is no doubt about the first.
std::string SimClient::intent_key(const client::DeliveryRef& ref) {
  return ref.attempt > 1 ? format("{}#{}", ref.id, ref.attempt) : ref.id;
}

client::AckMode SimClient::take_delivery(const client::DeliveryRef& ref) {
  const auto note = intent_key(ref);
  if (process_->intent->contains(note)) {
    if (const auto outcome = process_->intent->outcome_of(note)) {
      report(ref, *outcome);
    } else {
      const protocol::Receipt doubt{.status = ReceiptStatus::InDoubt, .reason = "the host ended meanwhile"};
      process_->intent->add_outcome(note, doubt);
      report(ref, doubt);
    }
    return client::AckMode::Later;
  }
  report(ref, {.status = ReceiptStatus::Accepted});
  process_->deliveries[ref.id] = {ref};
  process_->unsettled.insert(ref.id);
  schedule_step(ref.id, ref.lane.mode == DeliveryMode::Manual ? 10 * kMaxStep : kMaxStep);
  return client::AckMode::Later;
}

void SimClient::schedule_step(const std::string& id, Nanos max_delay) {
  loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(max_delay.count()))},
                   [this, weak = std::weak_ptr{process_}, id] {
                     if (weak.lock() && weak.lock() == process_) next_step(id);
                   });
}

void SimClient::next_step(const std::string& id) {
  const auto found = process_->deliveries.find(id);
  if (found == process_->deliveries.end()) return;
  if (chance(faults_.host_crashes)) return crash_soon();
  auto& delivery = found->second;
  switch (delivery.step) {
    case HostDelivery::Step::Pending:
      if (process_->paused) break;
      if (const auto abnormal_receipts = draw_abnormal_receipt()) return finish(delivery, *abnormal_receipts);
      if (chance(faults_.abnormal_receipts)) {
        report(delivery.ref, {.status = ReceiptStatus::Deferred, .reason = "the agent is busy"});
        break;
      }
      if (!process_->intent->add(intent_key(delivery.ref))) break;
      delivery.step = HostDelivery::Step::Logged;
      break;
    case HostDelivery::Step::Logged:
      checker_.on_injected(plan_.name, delivery.ref);
      delivery.step = HostDelivery::Step::Injected;
      break;
    case HostDelivery::Step::Injected:
      report(delivery.ref, {.status = ReceiptStatus::Accepted, .proof = "written", .via = "pty"});
      delivery.step = HostDelivery::Step::Written;
      break;
    case HostDelivery::Step::Written: {
      protocol::Receipt end{
          .status = ReceiptStatus::Delivered, .proof = "submitted", .via = "pty", .evidence = "working"};
      if (random_.below(3) == 0) end.proof = "seen";
      if (chance(faults_.abnormal_receipts / 4))
        end = {.status = ReceiptStatus::InDoubt, .reason = "the screen shows no evidence"};
      return finish(delivery, end);
    }
  }
  schedule_step(id, kMaxStep);
}

/// First the note, then the word.
void SimClient::finish(const HostDelivery& delivery, const protocol::Receipt& receipt) {
  const auto ref = delivery.ref;
  process_->deliveries.erase(ref.id);
  process_->unsettled.erase(ref.id);
  process_->intent->add_outcome(intent_key(ref), receipt);
  report(ref, receipt);
  if (receipt.status != ReceiptStatus::Delivered || receipt.proof != "submitted" || random_.below(2) == 0) return;
  loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(kMaxStep.count()))},
                   [this, weak = std::weak_ptr{process_}, ref] {
                     if (!weak.lock() || weak.lock() != process_) return;
                     report(ref, {.status = ReceiptStatus::Delivered, .proof = "seen", .via = "record"});
                   });
}

void SimClient::on_moved(const client::DeliveryRef& ref, DeliveryMode mode) {
  trace_.line("{}: {} is now #{} with mode {}", plan_.name, ref.id, ref.seq, name_of(mode));
  if (stores_positions()) remember(ref);
  const auto delivery = process_->deliveries.find(ref.id);
  if (delivery != process_->deliveries.end()) delivery->second.ref = ref;
}

bool SimClient::on_cancel(const protocol::CancelCommand& order) {
  const auto delivery = process_->deliveries.find(order.delivery_id);
  if (delivery == process_->deliveries.end() || delivery->second.step != HostDelivery::Step::Pending) return false;
  process_->deliveries.erase(delivery);
  process_->unsettled.erase(order.delivery_id);
  return true;
}

void SimClient::on_pause(const protocol::PauseCommand& order) { process_->paused = order.paused; }

void SimClient::crash_soon() {
  loop_.post([this, weak = std::weak_ptr{process_}] {
    if (!weak.lock() || weak.lock() != process_) return;
    crash(Death::Killed);
    loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(kMaxHesitation.count()))}, [this] { start(); });
  });
}

void SimClient::on_sent(const std::string& id) {
  trace_.line("{}: {} is stored", plan_.name, id);
  checker_.on_ack(id);
}

void SimClient::on_refused(const std::string& id, const protocol::Nack& why) {
  trace_.line("{}: {} is refused: {} {}", plan_.name, id, why.code, why.message);
  checker_.on_nack(id, why.code);
}

void SimClient::on_frame(const protocol::Envelope& envelope) {
  trace_.line("{} gets {} {}", plan_.name, protocol::name_of(envelope.type), envelope.payload.substr(0, 120));
}

bool SimClient::ready() const { return process_ && process_->link->ready(); }
bool SimClient::is_idle() const { return ready() && process_->link->is_drained() && process_->unsettled.empty(); }

std::string SimClient::describe() const {
  if (!process_) return plan_.name + " is not running";
  return format("{} is {}, {} unanswered, {} unsettled", plan_.name, client::name_of(process_->link->state()),
                process_->outbox->size(), process_->unsettled.size());
}

}  // namespace relay::simulation
