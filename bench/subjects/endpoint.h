/// A connection to a subject: sends messages, and counts deliveries and confirmations.
///
/// It hides the wire protocol, the acknowledgements of receivers and heartbeats, so that a workload is written once.
/// Threading: the driver's thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "subjects/byte_socket.h"

namespace relay::bench {

/// The address of all `Audience` seats.
inline constexpr std::string_view kEveryone = "*";

enum class Role { Sender, Receiver, Audience };

struct Seat {
  std::string name;
  Role role = Role::Receiver;
  /// The recipient of a sender. The raw forwarder is wired by it; other subjects ignore it.
  std::string sends_to = {};
};

/// The deliveries and confirmations in the bytes just read.
struct ReadCounts {
  std::size_t deliveries = 0;
  std::size_t confirmations = 0;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Queues a message; `socket()` writes it. Bodies need no escaping in any protocol.
  virtual void send(std::string_view to, std::string_view body) = 0;
  /// Parses received bytes and queues acknowledgements. Fails when the subject refused something.
  virtual Result<ReadCounts> read() = 0;
  virtual ByteSocket& socket() = 0;
};

}  // namespace relay::bench
