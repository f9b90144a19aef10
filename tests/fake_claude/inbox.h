/// The inbox socket of the session: clients write lines of JSON and get no response.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::fake_claude {

struct InboxMessage {
  std::string text;
  bool now = false;  // priority `now`: interrupts the reply
};

class Inbox {
 public:
  static Result<Inbox> open(const std::string& path);

  /// For poll: the socket and its connections.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// The complete lines received.
  std::vector<InboxMessage> read();

 private:
  struct Client {
    UniqueFd fd;
    std::string buffer;
  };
  UniqueFd socket_;
  std::vector<Client> clients_;
};

}  // namespace relay::fake_claude
