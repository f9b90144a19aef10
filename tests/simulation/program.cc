#include "tests/simulation/program.h"

#include "base/format.h"
#include "protocol/contract.h"
#include "text/json_writer.h"

namespace relay::simulation {
namespace {

constexpr Nanos kLongestHesitation = milliseconds{3'000};
constexpr Nanos kLongestStep = milliseconds{400};  // of a host, between two of them
constexpr std::size_t kMostWishes = 20;

using protocol::DeliveryMode;
using protocol::ReceiptStatus;

}  // namespace

Program::Program(ProgramPlan plan, VirtualLoop& loop, net::Network& network, Random& random, const Weather& weather,
                 Trace& trace, Ledger& ledger)
    : plan_{std::move(plan)},
      loop_{loop},
      network_{network},
      random_{random},
      weather_{weather},
      trace_{trace},
      ledger_{ledger} {}

Program::~Program() = default;

void Program::start() {
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
    life->intent = std::make_unique<host::Intent>(disk_, "intent");
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
  options.patience = client::Patience::never_give_up();
  if (keeps_positions()) options.positions = kept_positions_.all();
  if (keeps_positions()) options.store_id = kept_store_;
  client::LinkListener& listener = *this;
  life->link = std::make_unique<client::Link>(loop_, network_, random_, *life->outbox, std::move(options), listener);
  life_ = life;
  life->link->start();
}

void Program::crash(Death death) {
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

void Program::say(const std::string& to, const std::string& topic, std::size_t padding) {
  if (!life_) return;
  const bool ordered = plan_.durable || plan_.numbering == client::Numbering::Epoch;
  const bool short_ttl = random_.below(20) == 0;
  const bool channel = to.starts_with('#');
  const bool has_wish = random_.below(3) == 0;  // of when and how
  std::string wish, key;
  if (has_wish) {
    if (random_.below(4) == 0) {  // the same wish again now and then
      if (wishes_.size() < kMostWishes && random_.below(2) == 0) wishes_.push_back(format("wish{}", wishes_.size()));
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
  client::Outgoing message{.to = channel ? "" : to,
                           .payload = {},
                           .topic = topic,
                           .payload_meta = {},
                           .type = channel ? protocol::MessageType::ChannelMessage : protocol::MessageType::Send};
  message.payload = format(R"({{"kind":"message","body":"{}"{},"data":{{"p":"{}"}}}})", Ledger::body_of(number),
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

void Program::on_ready(const client::Session& session) {
  trace_.line("{} is ready ({}{})", plan_.name, session.id, session.resumed ? ", resumed" : "");
  kept_token_ = session.resume_token;
  if (!kept_store_.empty() && kept_store_ != session.store_id) kept_positions_ = client::StreamPositions{};
  kept_store_ = session.store_id;
  ledger_.has_session(plan_.name, session.id);
  life_->paused = false;  // told next if it is so
  life_->counted = 0;
  ++life_->connection;
  if (plan_.tells_state) tell("idle", plan_.modes, std::nullopt);
  if (plan_.subscribes && !session.resumed) (void)life_->link->say(protocol::MessageType::Subscribe, "{}", "news");
}

void Program::on_lost(const std::string& reason, Millis retry_in) {
  ledger_.loses_session(plan_.name, life_->in_hand);
  trace_.line("{} lost its link ({}), back in {} ms", plan_.name, reason, retry_in.count());
}

void Program::on_stopped(const Error& why) {
  trace_.line("{} was stopped: {}", plan_.name, why.message());
  if (plan_.claims_name)
    return ledger_.violate_unless_damaged(format("{} claimed its name and was stopped: {}", plan_.name, why.message()));
  loop_.post([this, weak = std::weak_ptr{life_}] {
    if (weak.lock() == life_) crash(Death::Killed);
  });
}

void Program::remember(const client::Place& place) {
  kept_positions_.advance(place.topic, place.from, place.lane, place.seq);
}

client::Taken Program::on_incoming(const client::Incoming& incoming) {
  const auto& place = incoming.place;
  trace_.line("{} gets {} #{} from {}: {}", plan_.name, place.id, place.seq, place.from,
              incoming.envelope.payload.substr(0, 48));
  if (keeps_positions()) remember(place);
  ledger_.handed_up(plan_.name, life_->number, keeps_positions() ? Keeps::Positions : Keeps::Nothing, place,
                    incoming.envelope.payload);
  if (plan_.role == Role::Host) return take_letter(place);
  if (!plan_.acknowledges_late || random_.below(3) != 0) return answer(place);
  life_->in_hand.insert(place.id);
  // One that expired meanwhile is in our hand only; the daemon has let it go and may send another. So is one of an
  // earlier connection that has not come again on this one.
  const bool counts = incoming.envelope.payload_meta.empty();
  if (counts && ++life_->counted > plan_.max_inflight)
    ledger_.violate_unless_damaged(format("{} has {} deliveries in hand and asked for at most {}", plan_.name,
                                          life_->counted, plan_.max_inflight));
  const auto delay = Nanos{random_.below(static_cast<std::uint64_t>(kLongestHesitation.count()))};
  loop_.call_after(delay, [this, weak = std::weak_ptr{life_}, place, counts, connection = life_->connection] {
    const auto life = weak.lock();
    if (!life) return;
    life->in_hand.erase(place.id);
    if (counts && life->connection == connection) --life->counted;
    if (answer(place) == client::Taken::Now) life->link->acknowledge(place);
  });
  return client::Taken::Later;
}

void Program::report(const client::Place& place, const protocol::Receipt& receipt) {
  ledger_.reports(place, receipt);
  life_->link->report(place, receipt);
}

std::optional<protocol::Receipt> Program::draw_trouble() {
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

client::Taken Program::answer(const client::Place& place) {
  if (plan_.role == Role::Plain) return client::Taken::Now;
  if (const auto trouble = draw_trouble()) {
    report(place, *trouble);
    return client::Taken::Later;
  }
  if (random_.below(2) == 0) return client::Taken::Now;
  if (random_.below(3) == 0) report(place, {.status = ReceiptStatus::Accepted});
  report(place, {.status = ReceiptStatus::Delivered, .proof = random_.below(3) == 0 ? "seen" : "", .way = "callback"});
  return client::Taken::Later;
}

// ---------------------------------------------------------------- what a session tells of itself

void Program::tell(const std::string& state, std::optional<protocol::Modes> modes,
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
  (void)life_->link->say(protocol::MessageType::SessionState, payload.take());
}

void Program::stir() {
  if (!plan_.tells_state || !ready()) return;
  constexpr const char* kStates[] = {"idle", "active", "blocked", "waiting", "starting"};
  auto modes = plan_.modes;
  if (modes && random_.below(4) == 0) {  // a way broke
    modes = protocol::Modes{};
    for (const auto mode : protocol::kDeliveryModes)
      if (plan_.modes->has(mode) && random_.below(2) == 0) modes->add(mode);
  }
  std::optional<DeliveryMode> boundary;
  if (random_.below(3) == 0) boundary = random_.below(2) == 0 ? DeliveryMode::NextMessage : DeliveryMode::NextToolCall;
  tell(kStates[random_.below(std::size(kStates))], modes, boundary);
}

void Program::calm() {
  tell("idle", protocol::Modes::all(), DeliveryMode::NextMessage);
  tell("idle", protocol::Modes::all(), DeliveryMode::NextToolCall);
}

// ---------------------------------------------------------------- a host

/// As the product names it: a second attempt after a failure is no doubt about the first.
std::string Program::note_of(const client::Place& place) {
  return place.attempt > 1 ? format("{}#{}", place.id, place.attempt) : place.id;
}

client::Taken Program::take_letter(const client::Place& place) {
  const auto note = note_of(place);
  if (life_->intent->holds(note)) {
    if (const auto known = life_->intent->end_of(note)) {
      report(place, *known);
    } else {
      const protocol::Receipt doubt{.status = ReceiptStatus::InDoubt, .reason = "the host ended meanwhile"};
      life_->intent->add_end(note, doubt);
      report(place, doubt);
    }
    return client::Taken::Later;
  }
  report(place, {.status = ReceiptStatus::Accepted});
  life_->letters[place.id] = {place};
  life_->in_hand.insert(place.id);
  go_on(place.id, place.lane.mode == DeliveryMode::Manual ? 10 * kLongestStep : kLongestStep);
  return client::Taken::Later;
}

void Program::go_on(const std::string& id, Nanos longest) {
  loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(longest.count()))},
                   [this, weak = std::weak_ptr{life_}, id] {
                     if (weak.lock() && weak.lock() == life_) next_step(id);
                   });
}

void Program::next_step(const std::string& id) {
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
      report(letter.place, {.status = ReceiptStatus::Accepted, .proof = "written", .way = "pty"});
      letter.step = Letter::Step::Written;
      break;
    case Letter::Step::Written: {
      protocol::Receipt end{
          .status = ReceiptStatus::Delivered, .proof = "submitted", .way = "pty", .evidence = "working"};
      if (random_.below(3) == 0) end.proof = "seen";
      if (chance(weather_.trouble / 4)) end = {.status = ReceiptStatus::InDoubt, .reason = "the screen does not tell"};
      return finish(letter, end);
    }
  }
  go_on(id, kLongestStep);
}

/// First the note, then the word.
void Program::finish(const Letter& letter, const protocol::Receipt& receipt) {
  const auto place = letter.place;
  life_->letters.erase(place.id);
  life_->in_hand.erase(place.id);
  life_->intent->add_end(note_of(place), receipt);
  report(place, receipt);
  if (receipt.status != ReceiptStatus::Delivered || receipt.proof != "submitted" || random_.below(2) == 0) return;
  loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(kLongestStep.count()))},
                   [this, weak = std::weak_ptr{life_}, place] {
                     if (!weak.lock() || weak.lock() != life_) return;
                     report(place, {.status = ReceiptStatus::Delivered, .proof = "seen", .way = "record"});
                   });
}

void Program::on_moved(const client::Place& place, DeliveryMode mode) {
  trace_.line("{} hears that {} is now #{} and waits for {}", plan_.name, place.id, place.seq, name_of(mode));
  if (keeps_positions()) remember(place);
  const auto letter = life_->letters.find(place.id);
  if (letter != life_->letters.end()) letter->second.place = place;
}

bool Program::on_cancel(const protocol::CancelOrder& order) {
  const auto letter = life_->letters.find(order.delivery_id);
  if (letter == life_->letters.end() || letter->second.step != Letter::Step::Waits) return false;
  life_->letters.erase(letter);
  life_->in_hand.erase(order.delivery_id);
  return true;
}

void Program::on_pause(const protocol::PauseOrder& order) { life_->paused = order.paused; }

void Program::die_soon() {
  loop_.post([this, weak = std::weak_ptr{life_}] {
    if (!weak.lock() || weak.lock() != life_) return;
    crash(Death::Killed);
    loop_.call_after(Nanos{random_.below(static_cast<std::uint64_t>(kLongestHesitation.count()))}, [this] { start(); });
  });
}

void Program::on_sent(const std::string& id) {
  trace_.line("{} hears that {} is stored", plan_.name, id);
  ledger_.acknowledged(id);
}

void Program::on_refused(const std::string& id, const protocol::NackView& why) {
  trace_.line("{} hears that {} is refused: {} {}", plan_.name, id, why.code, why.message);
  ledger_.refused(id, why.code);
}

void Program::on_frame(const protocol::Envelope& envelope) {
  trace_.line("{} hears {} {}", plan_.name, protocol::name_of(envelope.type), envelope.payload.substr(0, 120));
}

bool Program::ready() const { return life_ && life_->link->ready(); }
bool Program::at_rest() const { return ready() && life_->link->all_answered() && life_->in_hand.empty(); }

std::string Program::describe() const {
  if (!life_) return plan_.name + " is not running";
  return format("{} is {}, {} unanswered, {} in hand", plan_.name, client::name_of(life_->link->state()),
                life_->outbox->size(), life_->in_hand.size());
}

}  // namespace relay::simulation
