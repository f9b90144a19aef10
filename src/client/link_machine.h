/// The state machine of a Link, driven by the stream, by timers and by the program.
///
/// Every change of state goes through `enter`, which looks up the table in link_state.h. Each connection attempt has a
/// number; a result of an older attempt is ignored.
#pragma once

#include "base/lifetime.h"
#include "client/delivery_tracker.h"
#include "client/link.h"
#include "client/outbox_sender.h"
#include "protocol/frame.h"

namespace relay::client {

class Link::Machine final : public net::StreamListener {
 public:
  Machine(net::EventLoop& loop, net::Network& network, Random& random, Outbox& outbox, LinkOptions options,
          LinkListener& listener);

  void start();
  void stop(const protocol::Bye& bye);
  void retry_now();
  Result<std::string> send(const OutgoingMessage& message);
  Result<std::string> send_event(std::string payload);
  void acknowledge(const DeliveryRef& ref);
  void report(const DeliveryRef& ref, protocol::Receipt receipt);
  void request(protocol::MessageType type, std::string_view payload, OnResponse on_response, Millis timeout);
  Result<void> send_frame(protocol::MessageType type, std::string_view payload, std::string_view topic,
                          std::string_view to);

  [[nodiscard]] LinkState state() const { return state_; }
  [[nodiscard]] pid_t daemon_pid() const { return stream_ ? stream_->peer().pid : 0; }
  [[nodiscard]] const Outbox& outbox() const { return outbox_; }
  [[nodiscard]] const EventQueue& events() const { return events_; }
  [[nodiscard]] const StreamPositions& positions() const { return positions_; }
  [[nodiscard]] const Session& session() const { return session_; }

 private:
  // StreamListener
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t bytes_left) override;
  void on_closed(const std::string& reason) override { lose(reason); }

  // Connecting and losing (link_machine.cc).
  void enter(LinkEvent event);
  void connect();
  void forget_positions();
  void on_connected(std::unique_ptr<net::Stream> stream);
  void lose(const std::string& reason);
  void give_up(Error why);
  void drop_stream(net::Drain drain);
  void watch_idle_timeout();
  void write(const protocol::OutEnvelope& envelope);

  // Sending (link_machine.cc).
  void transmit();
  void retry_after(Millis delay);
  void send_events();
  void write_event(const QueuedEvent& event);

  // Receiving (link_machine_frames.cc).
  void on_frame(const protocol::Envelope& envelope);
  void on_bye(const protocol::Envelope& envelope);
  void on_welcome(const protocol::Envelope& envelope);
  void on_error(const protocol::Envelope& envelope);
  void on_ack(const protocol::Envelope& envelope);
  void on_nack(const protocol::Envelope& envelope);
  void on_event_refused(const protocol::Nack& nack);
  void on_delivery(const protocol::Envelope& envelope);
  void resend(const DeliveryRef& ref, const protocol::Receipt& receipt);
  void write_ack(const DeliveryRef& ref);
  void write_receipt(const protocol::Receipt& receipt);
  void on_pause(const protocol::Envelope& envelope);
  void on_cancel(const protocol::Envelope& envelope);

  net::EventLoop& loop_;
  net::Network& network_;
  Random& random_;
  Outbox& outbox_;
  LinkListener& listener_;
  LinkOptions options_;

  LinkState state_ = LinkState::Disconnected;
  std::uint64_t attempt_ = 0;
  Backoff backoff_;
  Session session_;
  bool token_refused_ = false;  // RESUME_TOO_OLD came before this WELCOME
  bool reclaimed_ = false;      // reconnected after a program with the same claim token took the name; once per run
  Millis heartbeat_{protocol::kHeartbeatMs};
  SteadyTime last_received_{};

  OutboxSender outbox_sender_;
  EventQueue events_;
  PendingRequests requests_;
  StreamPositions positions_;
  DeliveryTracker deliveries_;

  protocol::FrameReader reader_;
  std::string out_;  // reused for framing

  // Timers and the stream call into everything above, so they are destroyed first.
  std::unique_ptr<net::Timer> deadline_;  // of the handshake, the idle timeout or the back-off: never two at once
  std::unique_ptr<net::Timer> retry_;
  std::unique_ptr<net::Timer> retry_events_;
  std::unique_ptr<net::Stream> stream_;
  Lifetime lifetime_;
};

}  // namespace relay::client
