#include "tests/simulation/sim_client.h"

#include "base/format.h"
#include "protocol/contract.h"
#include "text/json_writer.h"

namespace relay::simulation {
namespace {

constexpr Nanos kMaxHesitation = milliseconds{3'000};
constexpr Nanos kMaxStep = milliseconds{400};  // of a host, between two of them
constexpr std::size_t kMaxWishes = 20;

using protocol::DeliveryMode;
using protocol::ReceiptStatus;

}  // namespace

SimClient::SimClient(ProgramPlan plan, VirtualLoop& loop, net::Network& network, Random& random,
                     const FaultPlan& weather, Trace& trace, HistoryChecker& ledger)
    : plan_{std::move(plan)},
      loop_{loop},
      network_{network},
      random_{random},
      weather_{weather},
      trace_{trace},
      ledger_{ledger} {}

SimClient::~SimClient() = default;

void SimClient::start() {
  if (life_) return;
  auto life = std::make_shared<Life>();
  life->number = ++lives_;
  const client::OutboxLimits limits{.max_entries = plan_.outbox_entries};
  if (plan_.durable) {
    disk_.fail_appends = disk_.fail_syncs = 0;
    auto outbox = client::Outbox::open(disk_, "outbox", limits, plan_.sync, random_);
    if (!outbox) return ledger_.violate(plan_.name + " cannot open its outbox: " + outbox.error().message());
    if ((*outbox)->recovery().damaged_bytes > 0) ledger_.violate(plan_.name + " finds its outbox damaged");
    life->outbox = std::move(*outbox);
  } else {
    life->outbox = std::make_unique<client::Outbox>(plan_.numbering, limits, random_);
  }
  if (plan_.role == Role::Host) {
    life->intent = std::make_unique<host::IntentLog>(disk_, "intent");
    if (const auto read = life->intent->load(); !read)
      return ledger_.violate(plan_.name + " cannot read its notes: " + read.error().message());
  }
  trace_.line("{} begins life {} with {} messages in its outbox", plan_.name, life->number, life->outbox->size());
  client::LinkOptions options;
  options.socket_path = kSocketPath;
  options.hello.agent = plan_.name;
  options.hello.capabilities.max_inflight = plan_.max_inflight;
  options.hello.capabilities.modes = plan_.modes;
  options.hello.capabilities.queue = plan_.role == Role::Host;
  options.hello.capabilities.pause = plan_.role == Role::Host;
  options.hello.capabilities.receipt_steps = plan_.wants_steps;
  if (plan_.modes) {
    protocol::AgentSessionCapabilities contract;
    contract.delivery = {.modes = *plan_.modes, .queue = plan_.role == Role::Host};
    contract.lifecycle.pause = plan_.role == Role::Host;
    if (const auto said = protocol::declare(contract, options.hello.capabilities); !said)
      ledger_.violate(said.error().message());
  }
  if (plan_.claims_name) options.hello.claim_token = "claim of " + plan_.name;
  options.hello.resume_token = plan_.durable ? kept_token_ : "";
  options.timeout = client::RetryLimit::never_give_up();
  if (keeps_positions()) options.positions = kept_positions_.all();
  if (keeps_positions()) options.store_id = kept_store_;
  client::LinkListener& listener = *this;
  life->link = std::make_unique<client::Link>(loop_, network_, random_, *life->outbox, std::move(options), listener);
  life_ = life;
  life->link->start();
}

void SimClient::crash(Death death) {
  if (!life_) return;
  if (plan_.role == Role::Host)
    death = Death::Killed;  // a power cut ends its agent as well: nobody is left to hear twice
  ledger_.loses_session(plan_.name, {});
  trace_.line("{} dies{}", plan_.name, death == Death::PowerCut ? " in a power cut" : "");
  if (!plan_.durable) ledger_.doubt_all_of(plan_.name);
  // Without a sync per message, what had not left yet may be gone; it was never promised.
  if (death == Death::PowerCut && plan_.sync == client::SyncOn::Transmission) ledger_.doubt_all_of(plan_.name);
  life_.reset();
  if (death == Death::PowerCut)
    disk_.cut_power(random_);
  else
    disk_.crash();
}

void SimClient::say(const std::string& to, const std::string& topic, std::size_t padding) {
  if (!life_) return;
  const bool ordered = plan_.durable || plan_.numbering == client::Numbering::Epoch;
  const bool short_ttl = random_.below(20) == 0;
  const bool channel = to.starts_with('#');
  const bool has_wish = random_.below(3) == 0;  // of when and how
  std::string wish, key;
  if (has_wish) {
    if (random_.below(4) == 0) {  // the same wish again now and then
      if (wishes_.size() < kMaxWishes && random_.below(2) == 0) wishes_.push_back(format("wish{}", wishes_.size()));
      if (!wishes_.empty()) key = wishes_[random_.below(wishes_.size())];
    }
    text::JsonWriter writer;
    writer.field("mode", name_of(protocol::kDeliveryModes[random_.below(std::size(protocol::kDeliveryModes))]));
    if (random_.below(3) == 0) writer.field("priority", "urgent");
    if (short_ttl && random_.below(2) == 0)
      writer.field("deadline", loop_.now().wall + static_cast<WallMs>(1 + random_.below(5'000)));
    writer.optional("idempotencyKey", key);
    wish = writer.take();
  }
  const auto number = ledger_.say({plan_.name, to, topic, ordered, short_ttl, key});
  client::OutgoingMessage message{
      .to = channel ? "" : to,
      .payload = {},
      .topic = topic,
      .payload_meta = {},
      .type = channel ? protocol::MessageType::ChannelMessage : protocol::MessageType::Send};
  message.payload = format(R"({{"kind":"message","body":"{}"{},"data":{{"p":"{}"}}}})", HistoryChecker::body_of(number),
                           channel ? format(R"(,"channel":"{}")", to) : "", std::string(padding, 'x'));
  if (short_ttl || has_wish) {
    text::JsonWriter meta;
    if (short_ttl && !wish.contains("deadline")) meta.field("ttl_ms", 1 + random_.below(5'000));
    if (has_wish) meta.raw("delivery", wish);
    message.payload_meta = meta.take();
  }
  if (random_.below(60) == 0)
    message.payload = R"({"kind":"message","body":["no text"],"channel":5})";  // refused for good
  if (random_.below(60) == 0 && !has_wish && !short_ttl)
    message.payload_meta = R"({"sync":{"correlationId":"c1","blocking":true}})";  // same for all
  if (weather_.append_fails > 0 && random_.below(1000) < weather_.append_fails) {
    if (random_.below(2) == 0)
      disk_.fail_appends = 1;
    else
      disk_.fail_syncs = 1;
  }
  const auto id = life_->link->send(message);
  if (!id) {
    trace_.line("{} cannot say m{}: {}", plan_.name, number, id.error().message());
    return ledger_.could_not_be_said(number);
  }
  trace_.line("{} says m{} to {}{}{} as {}", plan_.name, number, to, topic.empty() ? "" : " about ", topic, *id);
  ledger_.has_id(number, *id);
}

void SimClient::on_ready(const client::Session& session) {
  trace_.line("{} is ready ({}{})", plan_.name, session.id, session.resumed ? ", resumed" : "");
  kept_token_ = session.resume_token;
  if (!kept_store_.empty() && kept_store_ != session.store_id) kept_positions_ = client::StreamPositions{};
  kept_store_ = session.store_id;
  ledger_.has_session(plan_.name, session.id);
  life_->paused = false;  // told next if it is so
  life_->counted = 0;
  ++life_->connection;
  if (plan_.tells_state) tell("idle", plan_.modes, std::nullopt);
  if (plan_.subscribes && !session.resumed)
    (void)life_->link->send_frame(protocol::MessageType::Subscribe, "{}", "news");
}

void SimClient::on_lost(const std::string& reason, Millis retry_in) {
  ledger_.loses_session(plan_.name, life_->unsettled);
  trace_.line("{} lost its link ({}), back in {} ms", plan_.name, reason, retry_in.count());
}

void SimClient::on_stopped(const Error& why) {
  trace_.line("{} was stopped: {}", plan_.name, why.message());
  if (plan_.claims_name)
    return ledger_.violate_unless_damaged(format("{} claimed its name and was stopped: {}", plan_.name, why.message()));
  loop_.post([this, weak = std::weak_ptr{life_}] {
    if (weak.lock() == life_) crash(Death::Killed);
  });
}

void SimClient::remember(const client::DeliveryRef& place) {
  kept_positions_.advance(place.topic, place.from, place.lane, place.seq);
}

client::AckMode SimClient::on_incoming(const client::IncomingMessage& incoming) {
  const auto& place = incoming.ref;
  trace_.line("{} gets {} #{} from {}: {}", plan_.name, place.id, place.seq, place.from,
              incoming.envelope.payload.substr(0, 48));
  if (keeps_positions()) remember(place);
  ledger_.handed_up(plan_.name, life_->number, keeps_positions() ? Keeps::Positions : Keeps::Nothing, place,
                    incoming.envelope.payload);
  if (plan_.role == Role::Host) return take_letter(place);
  if (!plan_.acknowledges_late || random_.below(3) != 0) return answer(place);
  life_->unsettled.insert(place.id);
  // One that expired meanwhile is in our hand only; the daemon has let it go and may send another. So is one of an
  // earlier connection that has not come again on this one.
  const bool counts = incoming.envelope.payload_meta.empty();
  if (counts && ++life_->counted > plan_.max_inflight)
    ledger_.violate_unless_damaged(format("{} has {} deliveries in hand and asked for at most {}", plan_.name,
                                          life_->counted, plan_.max_inflight));
  const auto delay = Nanos{random_.below(static_cast<std::uint64_t>(kMaxHesitation.count()))};
  loop_.call_after(delay, [this, weak = std::weak_ptr{life_}, place, counts, connection = life_->connection] {
    const auto life = weak.lock();
    if (!life) return;
    life->unsettled.erase(place.id);
    if (counts && life->connection == connection) --life->counted;
    if (answer(place) == client::AckMode::Now) life->link->acknowledge(place);
  });
  return client::AckMode::Later;
}

void SimClient::report(const client::DeliveryRef& place, const protocol::Receipt& receipt) {
  ledger_.reports(place, receipt);
  life_->link->report(place, receipt);
}

std::optional<protocol::Receipt> SimClient::draw_trouble() {
  if (!chance(weather_.trouble)) return std::nullopt;
  switch (random_.below(4)) {
    case 0: return protocol::Receipt{.status = ReceiptStatus::Failed, .reason = "it was refused"};
    case 1:
      return protocol::Receipt{.status = ReceiptStatus::Deferred,
                               .reason = "not now",
                               .available_at = loop_.now().wall + static_cast<WallMs>(random_.below(4'000))};
    default: return protocol::Receipt{.status = ReceiptStatus::Failed, .reason = "it did not work", .retryable = true};
  }
}

client::AckMode SimClient::answer(const client::DeliveryRef& place) {
  if (plan_.role == Role::Plain) return client::AckMode::Now;
  if (const auto trouble = draw_trouble()) {
    report(place, *trouble);
    return client::AckMode::Later;
  }
  if (random_.below(2) == 0) return client::AckMode::Now;
  if (random_.below(3) == 0) report(place, {.status = ReceiptStatus::Accepted});
  report(place, {.status = ReceiptStatus::Delivered, .proof = random_.below(3) == 0 ? "seen" : "", .via = "callback"});
  return client::AckMode::Later;
}

// ---------------------------------------------------------------- what a session tells of itself

void SimClient::tell(const std::string& state, std::optional<protocol::DeliveryModes> modes,
                     std::optional<DeliveryMode> boundary) {
  if (!ready()) return;
  std::string number;
  ledger_.tells(plan_.name, {.state = state, .modes = modes, .boundary = boundary}, number);
  text::JsonWriter payload;
  payload.field("state", state).begin_object("capabilities").field("told", number).end();  // kept while it resumes
  if (modes) {
    payload.begin_array("modes");
    for (const auto mode : protocol::kDeliveryModes)
      if (modes->has(mode)) payload.element(name_of(mode));
    payload.end();
  }
  if (boundary) payload.field("boundary", *boundary == DeliveryMode::NextMessage ? "message" : "tool-call");
  trace_.line("{} tells that it is {}{} (no. {})", plan_.name, state,
              boundary ? format(", before {}", name_of(*boundary)) : "", number);
  (void)life_->link->send_frame(protocol::MessageType::SessionState, payload.take());
}

void SimClient::stir() {
  if (!plan_.tells_state || !ready()) return;
  constexpr const char* kStates[] = {"idle", "active", "blocked", "waiting", "starting"};
  auto modes = plan_.modes;
  if (modes && random_.below(4) == 0) {  // a way broke
    modes = protocol::DeliveryModes{};
    for (const auto mode : protocol::kDeliveryModes)
      if (plan_.modes->has(mode) && random_.below(2) == 0) modes->add(mode);
  }
  std::optional<DeliveryMode> boundary;
  if (random_.below(3) == 0) boundary = random_.below(2) == 0 ? DeliveryMode::NextMessage : DeliveryMode::NextToolCall;
  tell(kStates[random_.below(std::size(kStates))], modes, boundary);
}

void SimClient::calm() {
  tell("idle", protocol::DeliveryModes::all(), DeliveryMode::NextMessage);
  tell("idle", protocol::DeliveryModes::all(), DeliveryMode::NextToolCall);
}

// ---------------------------------------------------------------- a host

/// As the product names it: a second attempt after a failure is no doubt about the first.
std::string SimClient::note_of(const client::DeliveryRef& place) {
  return place.attempt > 1 ? format("{}#{}", place.id, place.attempt) : place.id;
}

client::AckMode SimClient::take_letter(const client::DeliveryRef& place) {
  const auto note = note_of(place);
  if (life_->intent->contains(note)) {
    if (const auto known = life_->intent->end_of(note)) {
      report(place, *known);
    } else {
      const protocol::Receipt doubt{.status = ReceiptStatus::InDoubt, .reason = "the host ended meanwhile"};
      life_->intent->add_outcome(note, doubt);
      report(place, doubt);
    }
    return client::AckMode::Later;
  }
  report(place, {.status = ReceiptStatus::Accepted});
  life_->letters[place.id] = {place};
  life_->unsettled.insert(place.id);
  go_on(place.id, place.lane.mode == DeliveryMode::Manual ? 10 * kMaxStep : kMaxStep);
  return client::AckMode::Later;
}

void SimClient::go_on(const std::string& id, Nanos longest) {
  loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(longest.count()))},
                   [this, weak = std::weak_ptr{life_}, id] {
                     if (weak.lock() && weak.lock() == life_) next_step(id);
                   });
}

void SimClient::next_step(const std::string& id) {
  const auto found = life_->letters.find(id);
  if (found == life_->letters.end()) return;
  if (chance(weather_.host_dies)) return die_soon();
  auto& letter = found->second;
  switch (letter.step) {
    case Letter::Step::Waits:
      if (life_->paused) break;
      if (const auto trouble = draw_trouble()) return finish(letter, *trouble);
      if (chance(weather_.trouble)) {
        report(letter.place, {.status = ReceiptStatus::Deferred, .reason = "the agent is busy"});
        break;
      }
      if (!life_->intent->add(note_of(letter.place))) break;
      letter.step = Letter::Step::Noted;
      break;
    case Letter::Step::Noted:
      ledger_.surfaced(plan_.name, letter.place);
      letter.step = Letter::Step::Surfaced;
      break;
    case Letter::Step::Surfaced:
      report(letter.place, {.status = ReceiptStatus::Accepted, .proof = "written", .via = "pty"});
      letter.step = Letter::Step::Written;
      break;
    case Letter::Step::Written: {
      protocol::Receipt end{
          .status = ReceiptStatus::Delivered, .proof = "submitted", .via = "pty", .evidence = "working"};
      if (random_.below(3) == 0) end.proof = "seen";
      if (chance(weather_.trouble / 4)) end = {.status = ReceiptStatus::InDoubt, .reason = "the screen does not tell"};
      return finish(letter, end);
    }
  }
  go_on(id, kMaxStep);
}

/// First the note, then the word.
void SimClient::finish(const Letter& letter, const protocol::Receipt& receipt) {
  const auto place = letter.place;
  life_->letters.erase(place.id);
  life_->unsettled.erase(place.id);
  life_->intent->add_outcome(note_of(place), receipt);
  report(place, receipt);
  if (receipt.status != ReceiptStatus::Delivered || receipt.proof != "submitted" || random_.below(2) == 0) return;
  loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(kMaxStep.count()))},
                   [this, weak = std::weak_ptr{life_}, place] {
                     if (!weak.lock() || weak.lock() != life_) return;
                     report(place, {.status = ReceiptStatus::Delivered, .proof = "seen", .via = "record"});
                   });
}

void SimClient::on_moved(const client::DeliveryRef& place, DeliveryMode mode) {
  trace_.line("{} hears that {} is now #{} and waits for {}", plan_.name, place.id, place.seq, name_of(mode));
  if (keeps_positions()) remember(place);
  const auto letter = life_->letters.find(place.id);
  if (letter != life_->letters.end()) letter->second.place = place;
}

bool SimClient::on_cancel(const protocol::CancelCommand& order) {
  const auto letter = life_->letters.find(order.delivery_id);
  if (letter == life_->letters.end() || letter->second.step != Letter::Step::Waits) return false;
  life_->letters.erase(letter);
  life_->unsettled.erase(order.delivery_id);
  return true;
}

void SimClient::on_pause(const protocol::PauseCommand& order) { life_->paused = order.paused; }

void SimClient::die_soon() {
  loop_.post([this, weak = std::weak_ptr{life_}] {
    if (!weak.lock() || weak.lock() != life_) return;
    crash(Death::Killed);
    loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(kMaxHesitation.count()))}, [this] { start(); });
  });
}

void SimClient::on_sent(const std::string& id) {
  trace_.line("{} hears that {} is stored", plan_.name, id);
  ledger_.acknowledged(id);
}

void SimClient::on_refused(const std::string& id, const protocol::Nack& why) {
  trace_.line("{} hears that {} is refused: {} {}", plan_.name, id, why.code, why.message);
  ledger_.refused(id, why.code);
}

void SimClient::on_frame(const protocol::Envelope& envelope) {
  trace_.line("{} hears {} {}", plan_.name, protocol::name_of(envelope.type), envelope.payload.substr(0, 120));
}

bool SimClient::ready() const { return life_ && life_->link->ready(); }
bool SimClient::at_rest() const { return ready() && life_->link->is_drained() && life_->unsettled.empty(); }

std::string SimClient::describe() const {
  if (!life_) return plan_.name + " is not running";
  return format("{} is {}, {} unanswered, {} in hand", plan_.name, client::name_of(life_->link->state()),
                life_->outbox->size(), life_->unsettled.size());
}

}  // namespace relay::simulation
