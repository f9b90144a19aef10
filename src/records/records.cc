#include "records/records.h"

#include <utility>

#include "records/query_errors.h"

namespace relay::records {

std::string_view describe(QueryErrc code) {
  switch (code) {
    case QueryErrc::NotFound: return "nothing has this id";
    case QueryErrc::Ambiguous: return "several ids start with this";
  }
  std::unreachable();
}

std::string_view name_of(DeliveryState state) {
  switch (state) {
    case DeliveryState::Queued: return "queued";
    case DeliveryState::Accepted: return "accepted";
    case DeliveryState::Delivered: return "delivered";
    case DeliveryState::Deferred: return "deferred";
    case DeliveryState::Failed: return "failed";
    case DeliveryState::Expired: return "expired";
    case DeliveryState::Cancelled: return "cancelled";
    case DeliveryState::InDoubt: return "in_doubt";
    case DeliveryState::Dead: return "dead";
  }
  std::unreachable();
}

std::string_view name_of(Proof proof) {
  switch (proof) {
    case Proof::Stored: return "stored";
    case Proof::Accepted: return "accepted";
    case Proof::Written: return "written";
    case Proof::Submitted: return "submitted";
    case Proof::Seen: return "seen";
  }
  std::unreachable();
}

}  // namespace relay::records
