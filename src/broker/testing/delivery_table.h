/// The page docs/delivery-table.md: all cases of `scenario.h`, one table per fault, equal rows together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "broker/testing/scenario.h"

namespace relay::broker::testing {

inline constexpr Fault kFaults[] = {Fault::None,        Fault::Away,    Fault::Restart,   Fault::FailsOnce,
                                    Fault::FailsAlways, Fault::Fails,   Fault::InDoubt,   Fault::Expires,
                                    Fault::Held,        Fault::Refused, Fault::NotStored, Fault::NotRecorded};
inline constexpr Kind kKinds[] = {Kind::Pty, Kind::Native, Kind::Callback, Kind::Pull, Kind::Published};
inline constexpr Standing kStandings[] = {Standing::Idle, Standing::Working, Standing::Blocked, Standing::Paused,
                                          Standing::Offline};

/// A case in words, for a failed expectation.
std::string describe(const Case& situation);

class DeliveryPage {
 public:
  /// Cases come in the order of the page: fault, kind, standing, mode.
  void add(const Case& situation, const std::vector<std::string>& trail);
  [[nodiscard]] std::string text() const;

 private:
  struct Row {
    Fault fault{};
    Kind kind{};
    std::vector<Standing> standings;
    std::vector<std::string> cells;
  };
  std::vector<Row> rows_;
};

}  // namespace relay::broker::testing
