#include "api/client/socket_workspace_client.h"

#include "base/format.h"
#include "base/log.h"
#include "protocol/requests.h"

namespace relay::api {
namespace {

using client::Errc;
using protocol::MessageType;

constexpr Millis kUsualTimeout{5'000};
constexpr Millis kFeedAgain{1'000};  // after the daemon told it to go

/// The daemon's own limits (wire.md 10.4), and a little more, so that its sentence is the one that is heard.
Millis timeout_for(MessageType type) {
  if (type == MessageType::Spawn || type == MessageType::Answer) return Millis{35'000};  // it may approve a spawn
  if (type == MessageType::Release) return Millis{20'000};
  if (type == MessageType::SendInput) return Millis{15'000};
  return kUsualTimeout;
}

client::LinkOptions options_for(const std::string& socket) {
  client::LinkOptions options;
  options.socket_path = socket;
  options.hello.agent = "cli";
  options.hello.system_component = true;
  options.timeout = client::RetryLimit::never_give_up();
  return options;
}

ApiError refusal_in_nack(const json::object& nack) {
  auto refusal = refusal_by_code(string_member(nack, "code").value_or(""), string_member(nack, "message").value_or(""));
  if (const auto after = integer_member(nack, "retry_after_ms"); after && *after > 0)
    refusal.retry_after = Millis{*after};
  return refusal;
}

}  // namespace

class SocketWorkspaceClient::Line final : private client::LinkListener {
 public:
  using Ready = std::function<void(const client::Session&)>;
  using Lost = std::function<void(const std::string&)>;
  using Frame = std::function<void(const protocol::Envelope&)>;
  using Stopped = std::function<void()>;

  Line(net::EventLoop& loop, net::Network& network, Random& random, const std::string& socket, Ready ready, Lost lost,
       Frame frame, Stopped stopped)
      : ready_{std::move(ready)},
        lost_{std::move(lost)},
        frame_{std::move(frame)},
        stopped_{std::move(stopped)},
        outbox_{client::Numbering::RandomIds, {}, random},
        link_{loop, network, random, outbox_, options_for(socket), *this} {
    link_.start();
  }
  ~Line() override { end(); }

  /// Nothing is heard from then on.
  void end() {
    if (!std::exchange(ended_, true)) link_.stop();
  }

  client::Link* operator->() { return &link_; }

 private:
  void on_ready(const client::Session& session) override { ready_(session); }
  void on_lost(const std::string& reason, Millis) override { lost_(reason); }
  void on_stopped(const Error& why) override {
    ended_ = true;
    lost_(why.message());
    stopped_();
  }
  client::AckMode on_incoming(const client::IncomingMessage&) override { return client::AckMode::Now; }
  void on_sent(const std::string&) override {}
  void on_refused(const std::string&, const protocol::Nack&) override {}
  void on_frame(const protocol::Envelope& envelope) override { frame_(envelope); }

  Ready ready_;
  Lost lost_;
  Frame frame_;
  Stopped stopped_;
  bool ended_ = false;
  client::Outbox outbox_;
  client::Link link_;
};

SocketWorkspaceClient::SocketWorkspaceClient(net::EventLoop& loop, net::Network& network, Random& random,
                                             WorkspaceLocation place)
    : loop_{loop}, network_{network}, random_{random}, place_{std::move(place)} {}

SocketWorkspaceClient::~SocketWorkspaceClient() {
  lifetime_.end();
  asking_.reset();
  feed_.reset();
  const auto gone = [] { return fail(Errc::Lost, "the workspace was closed"); };
  for (auto all = std::exchange(questions_, {}); auto& [number, question] : all) question.answer(gone());
  for (auto all = std::exchange(letters_, {}); auto& [number, sending] : all) {
    sending.call.reset();
    sending.stored(std::unexpected{to_api_error(gone().error())});
  }
}

void SocketWorkspaceClient::request(MessageType type, json::object payload, Answer answer) {
  const auto number = ++last_number_;
  if (questions_.size() >= kMaxWaiting)
    return loop_.post([answer = std::move(answer)]() mutable {
      answer(fail(Errc::Full, format("{} questions to the daemon wait already; try again", kMaxWaiting)));
    });
  auto text = json::serialize(payload);
  if (text.size() > protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes)
    return loop_.post([answer = std::move(answer)]() mutable {
      answer(fail(Errc::TooLarge, format("this is more than the daemon takes at once; {} bytes are allowed",
                                         protocol::kMaxFrameBytes - protocol::kEnvelopeReserveBytes)));
    });
  auto& question = questions_[number];
  question.type = type;
  question.payload = std::move(text);
  question.answer = std::move(answer);
  question.deadline = loop_.after(timeout_for(type), [this, number] {
    std::erase(waiting_, number);
    this->answer(number, fail(Errc::TimedOut, "the daemon did not answer in time; try again"));
  });
  waiting_.push_back(number);
  if (asking_ && cut_) (*asking_)->retry_now();  // somebody is there who would rather not wait
  if (!asking_) open_line();
  put_waiting();
}

/// One that was told to go, for whatever reason, does not come back: the next question has a new one.
void SocketWorkspaceClient::open_line() {
  asking_ = std::make_unique<Line>(
      loop_, network_, random_, place_.socket, [this](const client::Session& session) { on_ready(session); },
      [this](const std::string& why) { on_disconnected(why); }, [](const protocol::Envelope&) {},
      [this] {
        loop_.post([this, alive = lifetime_.watch()] {
          if (!alive) return;
          asking_.reset();
          if (!waiting_.empty()) open_line();
        });
      });
}

void SocketWorkspaceClient::on_ready(const client::Session& session) {
  cut_ = false;
  (void)notice_store(session);
  put_waiting();
}

void SocketWorkspaceClient::on_disconnected(const std::string& why) {
  cut_ = true;
  for (const auto number : std::exchange(waiting_, {}))
    answer(number, fail(Errc::Lost, format("the workspace cannot be reached ({}); try again", why)));
}

void SocketWorkspaceClient::put_waiting() {
  while (!waiting_.empty() && (*asking_)->ready() && open_ < client::kMaxOpenQuestions) {
    const auto number = waiting_.front();
    waiting_.pop_front();
    put(number);
  }
}

void SocketWorkspaceClient::put(std::uint64_t number) {
  auto& question = questions_.at(number);
  question.deadline.reset();
  ++open_;
  const auto patience = timeout_for(question.type);
  const auto on_answer = [this, number, alive = lifetime_.watch()](Result<const protocol::Envelope*> envelope) {
    if (!alive) return;
    --open_;
    if (envelope)
      answer(number, parse_json_object((*envelope)->payload));
    else
      answer(number, Failure{std::move(envelope).error()});
    if (alive && asking_) put_waiting();
  };
  (*asking_)->request(question.type, question.payload, on_answer, patience);
}

void SocketWorkspaceClient::answer(std::uint64_t number, Result<json::object> outcome) {
  auto node = questions_.extract(number);  // first out of the map: the callback may ask again
  if (!node.empty()) node.mapped().answer(std::move(outcome));
}

void SocketWorkspaceClient::send(OutgoingMessage letter, Stored stored) {
  if (letters_.size() >= kMaxSends)
    return loop_.post([stored = std::move(stored)]() mutable {
      stored(std::unexpected{refusal_by_code("BUSY", "too many messages are on their way at once; try again")});
    });
  const auto number = ++last_number_;
  letters_[number] = {.call = nullptr, .letter = std::move(letter), .stored = std::move(stored)};
  hand_over(number);
}

void SocketWorkspaceClient::hand_over(std::uint64_t number) {
  auto& sending = letters_.at(number);
  const auto& letter = sending.letter;
  DaemonRequest order{.type = MessageType::Send,
                      .id = letter.id,
                      .from = letter.from,
                      .to = letter.to,
                      .claim_token = letter.claim_token,
                      .payload = json::serialize(letter.payload),
                      .payload_meta = letter.meta.empty() ? std::string{} : json::serialize(letter.meta)};
  sending.call = std::make_unique<DaemonCall>(
      loop_, network_, place_.socket, std::move(order),
      [this, number](Result<DaemonResponse> outcome) { on_sent(number, std::move(outcome)); });
}

void SocketWorkspaceClient::on_sent(std::uint64_t number, Result<DaemonResponse> outcome) {
  auto& sending = letters_.at(number);
  if (!outcome && is(outcome.error(), Errc::Lost) && !std::exchange(sending.again, true))
    return loop_.post([this, number, alive = lifetime_.watch()] {
      if (alive && letters_.contains(number)) hand_over(number);
    });
  const auto node = letters_.extract(number);  // the call ends with this callback
  auto stored = std::move(sending.stored);
  if (!outcome) return stored(std::unexpected{to_api_error(outcome.error())});
  if (outcome->type == MessageType::Nack) return stored(std::unexpected{refusal_in_nack(outcome->payload)});
  stored(std::move(outcome->payload));
}

void SocketWorkspaceClient::follow(std::uint64_t after, EventListener* follower) {
  follower_ = follower;
  reached_ = after;
  if (follower == nullptr) {
    feed_again_.reset();
    if (!feed_) return;
    feed_->end();
    return loop_.post([feed = std::move(feed_)] {});  // this may be a callback of its own
  }
  if (feed_) return on_feed_ready();
  open_feed();
}

void SocketWorkspaceClient::open_feed() {
  feed_ = std::make_unique<Line>(
      loop_, network_, random_, place_.socket,
      [this](const client::Session& session) {
        if (!notice_store(session)) on_feed_ready();
      },
      [this](const std::string& why) {
        if (follower_ != nullptr) follower_->on_disconnected(why);
      },
      [this](const protocol::Envelope& envelope) { on_feed_frame(envelope); },
      [this] {
        feed_again_ = loop_.after(kFeedAgain, [this] {
          feed_.reset();
          if (follower_ != nullptr) open_feed();
        });
      });
}

/// True: it is another one, and the follower, which was told so, follows anew.
bool SocketWorkspaceClient::notice_store(const client::Session& session) {
  const auto before = std::exchange(store_id_, session.store_id.empty() ? store_id_ : session.store_id);
  if (before.empty() || before == store_id_ || follower_ == nullptr) return false;
  follower_->on_log_replaced();
  return true;
}

void SocketWorkspaceClient::on_feed_ready() {
  if (!(*feed_)->ready()) return;
  const auto said = (*feed_)->send_frame(MessageType::EventsSubscribe, format(R"({{"since":{}}})", reached_));
  if (!said) log::warn("events are not followed", {{"reason", said.error().message()}});
}

void SocketWorkspaceClient::on_feed_frame(const protocol::Envelope& envelope) {
  if (envelope.type != MessageType::AgentEvent || follower_ == nullptr) return;
  const auto event = protocol::parse_agent_event(envelope.payload);
  const auto object = event ? parse_json_object(*event) : Result<json::object>{Failure{event.error()}};
  const auto number = object ? integer_member(*object, "_seq") : std::nullopt;
  if (!number || *number <= 0 || static_cast<std::uint64_t>(*number) <= reached_) return;
  reached_ = static_cast<std::uint64_t>(*number);
  follower_->on_event(reached_, *event);
}

}  // namespace relay::api
