/// Our daemon in a temporary home, with two agents connected by hand.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "peer.h"

namespace relay::bench {

struct Storage {
  std::string title;
  std::string type;        // AGENT_RELAY_STORAGE_TYPE
  std::string durability;  // AGENT_RELAY_DURABILITY
};

class DaemonUnderTest {
 public:
  static Result<DaemonUnderTest> start(const std::string& program, const Storage& storage);
  DaemonUnderTest(DaemonUnderTest&& other) noexcept;
  DaemonUnderTest& operator=(DaemonUnderTest&&) = delete;
  ~DaemonUnderTest();

  /// A connection that has said HELLO and heard WELCOME.
  Result<Peer> join(const std::string& name) const;

 private:
  DaemonUnderTest(std::string place, pid_t pid) : place_{std::move(place)}, pid_{pid} {}
  [[nodiscard]] std::string socket() const { return place_ + "/r.sock"; }

  std::string place_;
  pid_t pid_;
};

}  // namespace relay::bench
