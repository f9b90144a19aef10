/// The model of all deliveries: every row and history entry that the store must have, built from the durable changes.
///
/// Why a second record: the store ignores changes that come too late, so its content is compared with the changes it
///   got, and each step with the table of legal ones.
/// Checked at every step: the table below; a delivered row never loses proof; dead only after the eighth failure or a
///   day; a held delivery moves only by a requeue, by its expiry or by the operator.
/// Threading: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "records/changes.h"
#include "records/queries.h"

namespace relay::simulation {

struct Entry {
  records::DeliveryState state{};
  records::Proof proof{};
  std::string reason = {};

  friend bool operator==(const Entry&, const Entry&) = default;
};

struct Row {
  records::Delivery delivery;
  std::uint64_t number = 0;  // of the message; 0: sent by another client
  WallMs sent_at = 0;
  bool redelivered = false;    // the operator redelivered the message
  bool expired = false;        // it expired
  bool held = false;           // by a policy, when it was added
  std::uint32_t requeues = 0;  // how often
  std::size_t reported = 0;    // history entries up to here were reported to its sender, or skipped
  SteadyTime due{};            // with Hold::Time: when the daemon's timer is due
  std::vector<Entry> history = {};
};

class DeliveryModel {
 public:
  /// The violation of the last step; empty when it was legal.
  using Violation = std::optional<std::string>;

  Violation add(const records::AddDelivery& added, std::uint64_t number, WallMs sent_at);
  Violation change(const records::ChangeDelivery& change, Timestamp now);
  Violation requeue(const records::RequeueDelivery& change);
  Violation expire(const records::Expired& late);

  [[nodiscard]] Row* find(Key key);
  [[nodiscard]] const std::map<Key, Row>& rows() const { return rows_; }
  std::map<Key, Row>& rows() { return rows_; }

 private:
  std::map<Key, Row> rows_;
  std::set<std::tuple<Key, AgentName, records::FrameKind, std::string>> made_;
};

/// A receipt or the daemon may change a delivery from one state to the other. A requeue is not among these steps.
bool is_legal(records::DeliveryState from, records::DeliveryState to);

}  // namespace relay::simulation
