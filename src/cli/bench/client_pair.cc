#include "cli/bench/client_pair.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "cli/wire/daemon_connection.h"
#include "text/json_writer.h"

namespace relay::cli {
namespace {

constexpr Millis kDeliveryTimeout{10'000};  // added to the time limit of a measurement

/// Room for the largest messages in the largest window.
constexpr client::OutboxLimits kOutboxLimits{.max_entries = 2 * kMaxBenchWindow,
                                             .max_bytes = 2 * kMaxBenchWindow * kMaxBenchBytes};

double microseconds_since(SteadyTime then) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

/// One of the two agents: its outbox and its link.
class ClientPair::Client final : public client::LinkListener {
 public:
  Client(ClientPair& pair, std::string_view name, const std::string& socket_path)
      : pair_{pair}, outbox_{client::Numbering::RandomIds, kOutboxLimits, pair.random_} {
    client::LinkOptions options;
    options.socket_path = socket_path;
    options.hello.agent = name;
    options.hello.program = "agent-relay";
    options.hello.cli = "bench";
    options.hello.capabilities.max_inflight = static_cast<std::uint32_t>(kMaxBenchWindow);
    options.timeout = client::RetryLimit::give_up_after(1);
    link_ = std::make_unique<client::Link>(pair.loop_, pair.network_, pair.random_, outbox_, std::move(options), *this);
    link_->start();
  }

  [[nodiscard]] client::Link& link() { return *link_; }

 private:
  void on_ready(const client::Session&) override {
    if (pair_.sender_->link().ready() && pair_.receiver_->link().ready()) pair_.end({});
  }
  void on_lost(const std::string&, Millis) override {}  // on_stopped follows, because there is no second attempt
  void on_stopped(const Error& why) override { pair_.end(why); }
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override {
    if (incoming.envelope.from == kBenchSender) pair_.count(pair_.delivered_, pair_.measured_.delivered_us);
    return client::AckMode::Now;  // ignores broadcasts of others
  }
  void on_sent(const std::string&) override { pair_.count(pair_.accepted_, pair_.measured_.accepted_us); }
  void on_refused(const std::string&, const protocol::Nack& why) override {
    pair_.end(fail(Errc::Refused, "the daemon refused: " + why.message).error());
  }
  void on_frame(const protocol::Envelope&) override {}

  ClientPair& pair_;
  client::Outbox outbox_;
  std::unique_ptr<client::Link> link_;  // calls into the members above, so it is destroyed first
};

ClientPair::ClientPair(net::AsioLoop& loop, const std::string& socket_path) : loop_{loop} {
  sender_ = std::make_unique<Client>(*this, kBenchSender, socket_path);
  receiver_ = std::make_unique<Client>(*this, kBenchReceiver, socket_path);
}

ClientPair::~ClientPair() {
  stopped_ = true;
  for (auto* client : {sender_.get(), receiver_.get()}) client->link().stop();
  loop_.post([this] { loop_.stop(); });  // after earlier posts and pending writes
  loop_.run();
}

Result<void> ClientPair::join() { return run(kDeliveryTimeout); }

Result<Measurement> ClientPair::measure(const std::string& body, std::size_t window, const BenchLimit& limit) {
  text::JsonWriter payload;
  payload_ = payload.field("kind", "message").field("body", body).take();
  window_ = window;
  limit_ = limit;
  sent_ = delivered_ = accepted_ = 0;
  measured_ = {};
  stopped_ = false;
  started_ = std::chrono::steady_clock::now();
  send_more();
  RELAY_TRY(run(limit.time + kDeliveryTimeout));
  measured_.messages = std::min(delivered_, accepted_);
  measured_.seconds = microseconds_since(started_) / 1e6;
  return std::move(measured_);
}

void ClientPair::stop() {
  stopped_ = true;
  end({});
}

Result<void> ClientPair::run(Millis timeout) {
  const auto deadline = loop_.after(timeout, [this] {
    end(fail(Errc::TimedOut, "the daemon did not deliver in time; see: agent-relay doctor").error());
  });
  if (!failed_) loop_.run();
  if (failed_) return std::unexpected{*failed_};
  return {};
}

void ClientPair::end(std::optional<Error> error) {
  if (error && !failed_) failed_ = std::move(error);
  loop_.stop();
}

void ClientPair::send_more() {
  while (sent_ < limit_.messages && sent_ - std::min(delivered_, accepted_) < window_ &&
         std::chrono::steady_clock::now() - started_ < limit_.time) {
    last_sent_ = std::chrono::steady_clock::now();
    ++sent_;
    if (const auto sent = sender_->link().send({.to = std::string{kBenchReceiver}, .payload = payload_}); !sent)
      return end(sent.error());
  }
  if (std::min(delivered_, accepted_) == sent_) end({});
}

void ClientPair::count(std::size_t& counter, std::vector<double>& times) {
  if (counter == sent_) return;  // of an earlier measurement
  ++counter;
  if (window_ == 1) times.push_back(microseconds_since(last_sent_));
  schedule_send();
}

/// One send for all events of one read, after its ACKs.
void ClientPair::schedule_send() {
  if (std::exchange(send_scheduled_, true)) return;
  loop_.post([this] {
    send_scheduled_ = false;
    if (!stopped_) send_more();
  });
}

}  // namespace relay::cli
