#include "tests/simulation/program.h"

#include "base/format.h"

namespace relay::simulation {
namespace {

constexpr Nanos kLongestHesitation = milliseconds{3'000};

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
  trace_.line("{} begins life {} with {} messages in its outbox", plan_.name, life->number, life->outbox->size());
  client::LinkOptions options;
  options.socket_path = kSocketPath;
  options.hello.agent = plan_.name;
  options.hello.capabilities.max_inflight = plan_.max_inflight;
  if (plan_.claims_name) options.hello.claim_token = "claim of " + plan_.name;
  options.hello.resume_token = plan_.durable ? kept_token_ : "";
  options.patience = client::Patience::never_give_up();
  if (plan_.durable) options.positions = kept_positions_.all();
  client::LinkListener& listener = *this;
  life->link = std::make_unique<client::Link>(loop_, network_, random_, *life->outbox, std::move(options), listener);
  life_ = life;
  life->link->start();
}

void Program::crash(Death death) {
  if (!life_) return;
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
  const auto number = ledger_.say({plan_.name, to, topic, ordered, short_ttl});
  client::Outgoing message{.to = channel ? "" : to,
                           .payload = {},
                           .topic = topic,
                           .payload_meta = {},
                           .type = channel ? protocol::MessageType::ChannelMessage : protocol::MessageType::Send};
  message.payload = format(R"({{"kind":"message","body":"{}"{},"data":{{"p":"{}"}}}})", Ledger::body_of(number),
                           channel ? format(R"(,"channel":"{}")", to) : "", std::string(padding, 'x'));
  if (short_ttl) message.payload_meta = format(R"({{"ttl_ms":{}}})", 1 + random_.below(5'000));
  if (random_.below(60) == 0)
    message.payload = R"({"kind":"message","body":["no text"],"channel":5})";  // refused for good
  if (random_.below(60) == 0)
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
  if (plan_.subscribes && !session.resumed) (void)life_->link->say(protocol::MessageType::Subscribe, "{}", "news");
}

void Program::on_lost(const std::string& reason, Millis retry_in) {
  trace_.line("{} lost its link ({}), back in {} ms", plan_.name, reason, retry_in.count());
}

void Program::on_stopped(const Error& why) {
  trace_.line("{} was stopped: {}", plan_.name, why.message());
  if (plan_.claims_name)
    return ledger_.violate(format("{} claimed its name and was stopped: {}", plan_.name, why.message()));
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
  if (plan_.durable) remember(place);
  ledger_.handed_up(plan_.name, life_->number, plan_.durable ? Keeps::Positions : Keeps::Nothing, place,
                    incoming.envelope.payload);
  if (!plan_.acknowledges_late || random_.below(3) != 0) return client::Taken::Now;
  ++life_->in_hand;
  // One that expired meanwhile is in our hand only; the daemon has let it go and may send another.
  if (incoming.envelope.payload_meta.empty() && ++life_->counted > plan_.max_inflight)
    ledger_.violate(format("{} has {} deliveries in hand and asked for at most {}", plan_.name, life_->counted,
                           plan_.max_inflight));
  const auto delay = Nanos{random_.below(static_cast<std::uint64_t>(kLongestHesitation.count()))};
  loop_.call_after(delay, [weak = std::weak_ptr{life_}, place, counted = incoming.envelope.payload_meta.empty()] {
    const auto life = weak.lock();
    if (!life) return;
    --life->in_hand;
    if (counted) --life->counted;
    life->link->acknowledge(place);
  });
  return client::Taken::Later;
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
bool Program::at_rest() const { return ready() && life_->link->all_answered() && life_->in_hand == 0; }

std::string Program::describe() const {
  if (!life_) return plan_.name + " is not running";
  return format("{} is {}, {} unanswered, {} in hand", plan_.name, client::name_of(life_->link->state()),
                life_->outbox->size(), life_->in_hand);
}

}  // namespace relay::simulation
