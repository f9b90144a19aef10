/// Writes docs/delivery-table.md: all cases of `scenario.h`, one table per fault, equal rows joined.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "broker/testing/scenario.h"

namespace relay::broker::testing {

inline constexpr Fault kFaults[] = {Fault::None,        Fault::Disconnect, Fault::Restart,   Fault::FailsOnce,
                                    Fault::FailsAlways, Fault::Fails,      Fault::InDoubt,   Fault::Expires,
                                    Fault::Held,        Fault::Refused,    Fault::NotStored, Fault::NotRecorded};
inline constexpr SessionType kSessionTypes[] = {SessionType::Pty, SessionType::Native, SessionType::Callback,
                                                SessionType::Pull, SessionType::Published};
inline constexpr RecipientState kRecipientStates[] = {RecipientState::Idle, RecipientState::Working,
                                                      RecipientState::Blocked, RecipientState::Paused,
                                                      RecipientState::Offline};

/// The case as text, for a failed expectation.
std::string describe(const DeliveryCase& situation);

class DeliveryTable {
 public:
  /// Cases must be added in this order: fault, session, state, mode.
  void add(const DeliveryCase& situation, const Strings& trail);
  [[nodiscard]] std::string markdown() const;

 private:
  struct Row {
    Fault fault{};
    SessionType session{};
    std::vector<RecipientState> states;
    Strings cells;
  };
  std::vector<Row> rows_;
};

}  // namespace relay::broker::testing
