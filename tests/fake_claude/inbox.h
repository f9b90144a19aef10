/// The inbox socket of the session: clients write lines of JSON and get no response.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::fake_claude {

struct Left {
  std::string text;
  bool now = false;  // priority `now`: interrupts the reply
};

class Inbox {
 public:
  static Result<Inbox> open(const std::string& path);

  /// For poll: the socket and its connections.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// The complete lines received.
  std::vector<Left> read();

 private:
  struct Writer {
    UniqueFd fd;
    std::string held;
  };
  UniqueFd socket_;
  std::vector<Writer> writers_;
};

}  // namespace relay::fake_claude
