/// Many clients in one thread: they say HELLO, send to each other, and check the deliveries.
///
/// Checked on every delivery: the stream's number is one more than the last (nothing lost, repeated or out of order).
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

  /// HELLO from everyone; true when all were welcomed in time.
  bool introduce(std::chrono::seconds patience);
  /// Everyone sends `each` messages to changing others; true when all were acknowledged and delivered in time.
  bool exchange(std::size_t each, std::chrono::seconds patience);
  /// Answers PINGs for a while.
  void stay(std::chrono::milliseconds duration);

  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  [[nodiscard]] std::uint64_t out_of_order() const { return out_of_order_; }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }  // the first ERROR, NACK or lost connection

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
  bool run(std::chrono::milliseconds patience, Done done);
  void read(Member& member);
  void handle(Member& member, const protocol::Envelope& envelope);
  void say(Member& member, std::string_view body);
  void flush(Member& member);
  void complain(std::string sentence);

  std::vector<Member> members_;
  UniqueFd epoll_;
  std::uint64_t welcomed_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::string complaint_;
};

}  // namespace relay::integration
