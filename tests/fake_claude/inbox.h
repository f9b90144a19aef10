/// The session's own socket: others leave a line of JSON, nothing is answered.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::fake_claude {

struct Left {
  std::string text;
  bool now = false;  // priority `now`: cuts the reply short
};

class Inbox {
 public:
  static Result<Inbox> open(const std::string& path);

  /// For poll: the socket, and everybody who is writing.
  [[nodiscard]] std::vector<int> descriptors() const;
  /// What has come, whole lines only.
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
