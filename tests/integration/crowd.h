/// Many clients in one thread that send messages to each other and check the deliveries.
///
/// Checked for every delivery: its stream number is one more than the last (nothing lost, repeated or out of order).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "protocol/envelope.h"
#include "protocol/frame.h"

namespace relay::integration {

class Crowd {
 public:
  Crowd(const std::string& socket, std::size_t count);

  /// Every client sends HELLO; true when all received WELCOME in time.
  bool connect(std::chrono::seconds timeout);
  /// Every client sends `each` messages to several others; true when all were acknowledged and delivered in time.
  bool exchange(std::size_t each, std::chrono::seconds timeout);
  /// Answers PINGs for a while.
  void answer_pings_for(std::chrono::milliseconds duration);

  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  [[nodiscard]] std::uint64_t out_of_order() const { return out_of_order_; }
  [[nodiscard]] const std::string& error() const { return error_; }  // the first ERROR, NACK or disconnect

 private:
  struct Member {
    std::string name;
    UniqueFd fd;
    protocol::FrameReader reader;
    std::string out;
    std::uint64_t sent = 0;
    std::unordered_map<std::string, std::uint64_t> last_seq;  // by sender
  };

  template <class Done>
  bool run(std::chrono::milliseconds timeout, Done done);
  void read(Member& member);
  void handle(Member& member, const protocol::Envelope& envelope);
  void queue_frame(Member& member, std::string_view body);
  void flush(Member& member);
  void set_error(std::string error);

  std::vector<Member> members_;
  UniqueFd epoll_;
  std::uint64_t welcomed_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::string error_;
};

}  // namespace relay::integration
