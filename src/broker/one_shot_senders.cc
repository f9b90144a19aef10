#include "broker/one_shot_senders.h"

#include "base/format.h"
#include "base/hash.h"

namespace relay::broker {

using protocol::NackCode;

namespace {

constexpr WallMs kDayMs = 24LL * 3600 * 1000;

}  // namespace

std::optional<Rejection> OneShotSenders::check(const ConnectionState& connection, std::string_view name,
                                               std::string_view claim_token) {
  if (const auto fine = protocol::check_agent_name(name); !fine)
    return Rejection{NackCode::BadRequest, fine.error().message()};
  if (auto refused = authority_.check_name_use(connection, name)) return refused;
  const AgentState* agent = agents_.find(name);
  // No name of an agent locks the user out.
  if (auto reason = agents_.confusable_reason(name); !sends_as_user(connection, name) && !reason.empty())
    return Rejection{NackCode::BadRequest, std::move(reason)};
  if (agent == nullptr) {
    if (removal_.has_room_for_name()) return std::nullopt;
    return Rejection{NackCode::Busy, format("the workspace already has {} agents; remove one first", agents_.size())};
  }
  if (agent->removing) return Rejection{NackCode::Busy, format("'{}' is being removed; try again", name), kBusyRetryMs};
  // The HTTP API sends the system token with messages of a process inside that agent.
  const bool is_vouched_for = connection.peer->origin.daemon && authority_.is_system_token(claim_token);
  const bool may_use_name =
      is_vouched_for ||
      (!claim_token.empty() && equal_in_constant_time(sha256_hex(claim_token), agent->record->claim_hash));
  if ((agent->connected() || agents_.is_claimed(*agent)) && !may_use_name)
    return Rejection{NackCode::NotOwner,
                     format("'{}' is the name of a connected agent; send under another name", name)};
  return std::nullopt;
}

AgentState& OneShotSenders::add(std::string_view name) {
  AgentState& sender = agents_.add(std::string{name});
  if (!sender.saved) {
    agents_.mark_saved(sender);
    agents_.set_last_seen(sender, context_.wall());
    commits_.save_eventually(records::PutAgent{*sender.record});
    context_.emit(RosterChanged{});
  }
  // A name without a session was last seen when it sent; saved once a day, not with every message.
  const bool another_day = sender.record->last_seen / kDayMs != context_.wall() / kDayMs;
  agents_.set_last_seen(sender, context_.wall());
  if (another_day) commits_.save_eventually(records::PutAgent{*sender.record});
  return sender;
}

}  // namespace relay::broker
