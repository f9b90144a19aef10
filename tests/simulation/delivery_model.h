/// The deliveries as the store must have them: every row and every line of its history, kept from what became durable.
///
/// Why a second book: the store is asked to do things and ignores what comes too late, so what it shows is compared with
///   what it was told, and each step with the table of legal ones.
/// Checked at every step: the table below; a proof never weaker once it is delivered; dead only after the eighth failure
///   or a day; what is held moves only by being put back, by its expiry or by a person.
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
  /// What was wrong with a step, if anything.
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

/// May a delivery go from one state to the other by a session's or the daemon's word? Being put back is not among them.
bool is_legal(records::DeliveryState from, records::DeliveryState to);

}  // namespace relay::simulation
