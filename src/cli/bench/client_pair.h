/// A sending and a receiving agent in this workspace, and the measurement of their messages.
///
/// They use the same client as hosts and programs (client/link.h), so the results are what an agent gets. Their names are
/// internal, so no listing shows them. Messages go one way, so the loop breaker does not act.
/// Ownership: borrows the loop. Threading: the loop's thread; each call runs the loop until it is done.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "cli/bench/results.h"
#include "client/link.h"
#include "client/outbox_sender.h"
#include "net/asio_loop.h"
#include "net/unix_network.h"

namespace relay::cli {

/// The same in every run, so that the next run finds and removes what a killed one left behind.
inline constexpr std::string_view kBenchSender = "__bench-sender";
inline constexpr std::string_view kBenchReceiver = "__bench-receiver";
/// The most messages in flight of a client without a durable outbox.
inline constexpr std::size_t kMaxBenchWindow = client::kMaxUnansweredWithoutEpoch;
inline constexpr std::size_t kMaxBenchBytes = 65'536;  // of a message text

class ClientPair {
 public:
  ClientPair(net::AsioLoop& loop, const std::string& socket_path);
  /// Disconnects both.
  ~ClientPair();
  ClientPair(const ClientPair&) = delete;
  ClientPair& operator=(const ClientPair&) = delete;

  /// Connects both.
  Result<void> join();
  /// Sends `body` repeatedly with at most `window` messages in flight. `stop` may end it earlier.
  Result<Measurement> measure(const std::string& body, std::size_t window, const BenchLimit& limit);
  /// Ends the running call with the results so far. Called on the loop.
  void stop();

 private:
  class Client;

  Result<void> run(Millis timeout);
  void end(std::optional<Error> error);
  void send_more();
  void count(std::size_t& counter, std::vector<double>& times);
  void schedule_send();

  net::AsioLoop& loop_;
  net::UnixNetwork network_{loop_};
  SystemRandom random_;
  std::unique_ptr<Client> sender_, receiver_;
  std::optional<Error> failed_;

  // Of the current measurement.
  std::string payload_;
  std::size_t window_ = 0;
  BenchLimit limit_;
  std::size_t sent_ = 0, delivered_ = 0, accepted_ = 0;
  SteadyTime started_{}, last_sent_{};
  bool stopped_ = false, send_scheduled_ = false;
  Measurement measured_;
};

}  // namespace relay::cli
