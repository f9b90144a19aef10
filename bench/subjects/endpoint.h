/// One connection to a subject, as work sees it: messages go out, deliveries and confirmations come back.
///
/// What it hides: the subject's own wire, the receiver's acknowledgements, heartbeats. Work is written once for all.
/// Threading: the driver's one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "subjects/byte_socket.h"

namespace relay::bench {

/// The address that means every `Audience` seat.
inline constexpr std::string_view kEveryone = "*";

enum class Role { Sender, Receiver, Audience };

struct Seat {
  std::string name;
  Role role = Role::Receiver;
  /// A sender says where it will send: the floor is wired by this, all others ignore it.
  std::string sends_to = {};
};

/// What the bytes read so far meant.
struct Heard {
  std::size_t deliveries = 0;
  std::size_t confirmations = 0;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  /// Queues a message; `socket()` writes it. Bodies need no escaping anywhere.
  virtual void send(std::string_view to, std::string_view body) = 0;
  /// Takes in what was read and queues the answers that are owed. An error: the subject refused something.
  virtual Result<Heard> hear() = 0;
  virtual ByteSocket& socket() = 0;
};

}  // namespace relay::bench
