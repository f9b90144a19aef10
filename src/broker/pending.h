/// What waits for a commit, and what a failed commit means for each kind.
///
/// When a commit fails, the sender of a SEND gets a refusal and sends it again. Nobody repeats what the broker makes itself (its own
/// messages, history entries, records of agents), so the broker keeps it and tries again in the old order.
/// Threading: the broker's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "broker/effects.h"
#include "protocol/send.h"
#include "records/changes.h"

namespace relay::broker {

enum class CommitResult : std::uint8_t { Done, Failed };

/// Deliveries are sent only while the store is healthy: their acknowledgements could not be stored otherwise.
enum class StoreHealth : std::uint8_t {
  Healthy,
  Failing,  // a commit failed: for a while nothing is requested of it, and new changes fail at once
  Probing,  // requested again; the first commit to end decides
};

/// A SEND that waits for its commit.
struct PendingSend {
  ConnectionId connection;  // of the sender; may have left by then
  std::string id;
  AgentName from;
  std::string epoch;  // of the outbox it came from, or empty
  std::uint64_t number = 0;
  std::size_t bytes = 0;
  bool answer = false;
  bool receipts = false;
  bool steps = false;  // a receipt for every change
  bool own = false;    // made by the broker itself, which tries again
  std::shared_ptr<const records::Message> message;
  std::vector<records::Delivery> deliveries;
  struct Refused {
    records::Delivery delivery;
    std::string reason;
    protocol::NackCode code{};
  };
  std::vector<Refused> refused = {};  // by recipients among others
};

/// The message and the recipient of a history entry.
struct ReceiptContext {
  std::shared_ptr<const records::Message> message;
  AgentName to;
  std::optional<protocol::NackCode> code = {};  // when there is one for what happened
};

/// A change that is tried again when its commit fails.
struct PendingSave {
  records::Change change;
  std::optional<ReceiptContext> receipt = {};  // of a ChangeDelivery: reported once it is stored
  ConnectionId charged_to = {};                // the connection whose uncommitted bytes include it until then
  std::size_t charged = 0;                     // bytes
};

/// Anything else that waits for its commit.
enum class RetryMode : std::uint8_t { Once, UntilSaved };
struct PendingCall {
  std::move_only_function<void(CommitResult)> done;
  RetryMode retry = RetryMode::Once;
  records::CommitMode mode = records::CommitMode::Immediate;
};

using PendingWork = std::variant<PendingSend, PendingSave, PendingCall>;
struct Pending {
  records::CommitTicket ticket;
  PendingWork what;
};

}  // namespace relay::broker
