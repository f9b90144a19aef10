#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "base/clock.h"
namespace relay::broker {
class Loops {
 public:
  struct Sent {
    std::string_view from, to, body, reply_to, thread;
    bool wakes = true;
  };
  struct Trip {
    std::string from, to, reason;
    WallMs at = 0, until = 0;
    std::uint64_t trips = 0, refused = 0;
  };
  std::optional<std::string> objection(const Sent&, Moment) { return std::nullopt; }
  void taken(const Sent&, std::string_view, Moment) {}
  std::optional<Trip> take_trip() { return std::nullopt; }
  std::vector<Trip> open(Moment) const { return {}; }
  std::size_t reset(std::string_view, std::string_view) { return 0; }
  void forget(std::string_view) {}
};
}  // namespace relay::broker
