#include "client_role.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/directory.h"
#include "base/format.h"
#include "base/random.h"
#include "client/link.h"
#include "journal.h"
#include "net/asio_loop.h"
#include "net/signals.h"
#include "net/unix_network.h"

namespace relay::crash {
namespace {

constexpr Millis kTick{20};             // between batches of messages
constexpr std::size_t kWindow = 1'000;  // max unacknowledged messages
constexpr std::size_t kMaxPadding = 400;
constexpr std::array<std::string_view, 3> kTopics{"", "build", "review"};

class Client final : public client::LinkListener {
 public:
  Client(const ClientOptions& options, JournalFile sent, JournalFile received, SentJournal past,
         std::vector<client::StreamPosition> positions)
      : options_{options},
        network_{loop_},
        random_{options.seed},
        sent_{std::move(sent)},
        received_{std::move(received)},
        next_{std::move(past.next)},
        positions_{std::move(positions)} {}

  Result<void> run() {
    const auto directory = RELAY_TRY(DiskDirectory::open(options_.directory));
    const auto outbox = RELAY_TRY(client::Outbox::open(*directory, "outbox", {.max_entries = 2 * kWindow},
                                                       client::SyncOn::Transmission, secrets_));
    client::LinkOptions link_options;
    link_options.socket_path = options_.socket;
    link_options.hello.agent = options_.name;
    link_options.hello.capabilities.resume = true;
    link_options.hello.claim_token = "claim-of-" + options_.name;
    link_options.hello.resume_token = RELAY_TRY(read_file(token_path()));
    link_options.timeout = client::RetryLimit::never_give_up();
    link_options.positions = positions_;
    client::Link link{loop_, network_, secrets_, *outbox, std::move(link_options), *this};
    link_ = &link;
    outbox_ = outbox.get();
    net::ignore_sigpipe();
    sending_ = options_.messages_per_second > 0;
    link.start();
    tick();
    loop_.run();
    link.stop();
    link_ = nullptr;
    return failure_;
  }

 private:
  [[nodiscard]] std::string token_path() const { return options_.directory + "/token"; }

  void fail_with(Result<void> result) {
    if (result) return;
    failure_ = std::move(result);
    loop_.stop();
  }

  /// Sends the messages of one tick.
  void tick() {
    if (sending_ && ::access(options_.stop_file.c_str(), F_OK) == 0) sending_ = false;
    if (sending_)
      send_batch();
    else if (!drained_ && link_->is_drained()) {
      drained_ = true;
      fail_with(sent_.append("D\n"));
    }
    tick_timer_ = loop_.after(kTick, [this] { tick(); });
  }

  void send_batch() {
    const auto share = static_cast<std::uint64_t>(options_.messages_per_second) * kTick.count() / 1000;
    auto count = random_.below(2 * share + 1);
    count = std::min<std::uint64_t>(count, outbox_->size() < kWindow ? kWindow - outbox_->size() : 0);
    struct Planned {
      Lane lane;
      std::uint64_t number;
    };
    std::vector<Planned> plan;
    std::string tried, accepted;
    for (; count > 0; --count) {
      Lane lane{options_.peers[random_.below(options_.peers.size())],
                std::string{kTopics[random_.below(kTopics.size())]}};
      if (lane.peer == options_.name) continue;
      const auto number = next_[lane]++;
      tried += tried_line(lane, number);
      plan.push_back({std::move(lane), number});
    }
    if (plan.empty()) return;
    fail_with(sent_.append(tried));
    for (const auto& [lane, number] : plan) {
      const std::string padding(random_.below(kMaxPadding), '.');
      const auto id = link_->send({.to = lane.peer,
                                   .payload = relay::format(R"({{"kind":"message","body":"{} {}"}})", number, padding),
                                   .topic = lane.topic});
      if (!id) return fail_with(Failure{id.error()});
      accepted += accepted_line(lane, number);
    }
    fail_with(sent_.append(accepted));
  }

  // LinkListener
  void on_ready(const client::Session& session) override {
    // A torn or old token only prevents the resume; the positions suffice.
    (void)std::remove(token_path().c_str());
    if (auto file = JournalFile::open(token_path())) (void)file->append(session.resume_token);
  }
  void on_lost(const std::string&, Millis) override {}
  void on_stopped(const Error& error) override { fail_with(Failure{error}); }

  client::AckMode on_incoming(const client::IncomingMessage& incoming) override {
    const auto payload = protocol::parse_send(incoming.envelope.payload);
    if (!payload || payload->body.size() < 2) {
      fail_with(fail("received a message without a body"));
      return client::AckMode::Later;
    }
    const std::string body{payload->body.substr(1)};  // after the quote; the number ends at the space
    const Receipt receipt{{std::string{incoming.envelope.from}, std::string{incoming.envelope.topic}},
                          incoming.ref.seq,
                          std::strtoull(body.c_str(), nullptr, 10)};
    fail_with(received_.append(received_line(receipt)));
    return client::AckMode::Now;
  }

  void on_sent(const std::string&) override {}
  void on_refused(const std::string& id, const protocol::Nack& nack) override {
    fail_with(sent_.append(relay::format("X {}:{}\n", id, nack.code)));
  }
  void on_frame(const protocol::Envelope&) override {}

  const ClientOptions& options_;
  net::AsioLoop loop_;
  net::UnixNetwork network_;
  SystemRandom secrets_;
  SeededRandom random_;
  JournalFile sent_;
  JournalFile received_;
  std::map<Lane, std::uint64_t> next_;
  std::vector<client::StreamPosition> positions_;
  client::Link* link_ = nullptr;
  client::Outbox* outbox_ = nullptr;
  std::unique_ptr<net::Timer> tick_timer_;
  bool sending_ = false;
  bool drained_ = false;
  Result<void> failure_;
};

}  // namespace

Result<void> run_client(const ClientOptions& options) {
  const auto sent_path = options.directory + "/sent", received_path = options.directory + "/received";
  auto past = parse_sent(RELAY_TRY(read_file(sent_path)));
  std::map<Lane, std::uint64_t> last_seq;
  for (const auto& receipt : parse_received(RELAY_TRY(read_file(received_path)))) last_seq[receipt.lane] = receipt.seq;
  std::vector<client::StreamPosition> positions;
  for (const auto& [lane, seq] : last_seq) positions.push_back({lane.topic, lane.peer, seq});
  Client client{options, RELAY_TRY(JournalFile::open(sent_path)), RELAY_TRY(JournalFile::open(received_path)),
                std::move(past), std::move(positions)};
  return client.run();
}

}  // namespace relay::crash
