/// Two agents of our own in this workspace: one sends, the other receives, and the clock stands beside both.
///
/// They speak through the client that hosts and programs use (client/link.h), so what is measured is what an agent gets.
/// Nobody sees them: their names are internal ones, which no listing shows. Traffic goes one way, so no loop breaker
/// has anything to break.
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

/// The same in every run: what a run that was killed left behind is found, and removed, by the next.
inline constexpr std::string_view kBenchSender = "__bench-sender";
inline constexpr std::string_view kBenchReceiver = "__bench-receiver";
/// As many as a client without a durable outbox has on their way at most.
inline constexpr std::size_t kMaxBenchWindow = client::kMaxUnansweredWithoutEpoch;
inline constexpr std::size_t kMaxBenchBytes = 65'536;  // of a text

class ClientPair {
 public:
  ClientPair(net::AsioLoop& loop, const std::string& socket_path);
  /// Says goodbye.
  ~ClientPair();
  ClientPair(const ClientPair&) = delete;
  ClientPair& operator=(const ClientPair&) = delete;

  /// Both are welcomed.
  Result<void> join();
  /// Sends `body` again and again, at most `window` of them on their way. `stop` may end it sooner.
  Result<Measurement> measure(const std::string& body, std::size_t window, const BenchLimit& extent);
  /// Whatever runs ends now, with what it has. From inside the loop.
  void stop();

 private:
  class End;

  Result<void> run(Millis patience);
  void end(std::optional<Error> why);
  void send_more();
  void count(std::size_t& counter, std::vector<double>& times);
  void go_on();

  net::AsioLoop& loop_;
  net::UnixNetwork network_{loop_};
  SystemRandom random_;
  std::unique_ptr<End> sender_, receiver_;
  std::optional<Error> failed_;

  // Of the measurement that runs.
  std::string payload_;
  std::size_t window_ = 0;
  BenchLimit extent_;
  std::size_t sent_ = 0, delivered_ = 0, accepted_ = 0;
  SteadyTime began_{}, left_{};
  bool stopped_ = false, goes_on_ = false;
  Measurement measured_;
};

}  // namespace relay::cli
