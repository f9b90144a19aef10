/// The model of all deliveries: every row and history entry that the store must have, kept from the durable changes.
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

struct Line {
  records::DeliveryState state{};
  records::Proof proof{};
  std::string reason = {};

  friend bool operator==(const Line&, const Line&) = default;
};

struct Row {
  records::Delivery delivery;
  std::uint64_t number = 0;  // of the saying; 0: somebody else's
  WallMs said_at = 0;
  bool again = false;          // a person had the message delivered anew
  bool late = false;           // its time was over
  bool held = false;           // by a policy, when it came
  std::uint32_t put_back = 0;  // how often
  std::size_t told = 0;        // lines of the history up to here were told to its sender, or passed over
  SteadyTime due{};            // with Hold::Time: when the daemon's timer is to have run
  std::vector<Line> history = {};
};

class DeliveryModel {
 public:
  /// The violation of the last step; empty when it was legal.
  using Verdict = std::optional<std::string>;

  Verdict add(const records::AddDelivery& added, std::uint64_t number, WallMs said_at);
  Verdict change(const records::ChangeDelivery& change, Timestamp now);
  Verdict put_back(const records::RequeueDelivery& change);
  Verdict expire(const records::Expired& late);

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
