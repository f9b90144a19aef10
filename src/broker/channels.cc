#include "broker/channels.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;
using records::FrameKind;

namespace {

constexpr std::size_t kMaxMemberships = 200'000;  // in a whole workspace

}  // namespace

std::optional<Rejection> Channels::check_join(const AgentName& member) {
  if (audiences_.memberships() >= kMaxMemberships)
    return Rejection{NackCode::Busy,
                     format("{} memberships already exist; leave a channel first", audiences_.memberships())};
  if (const auto joined = audiences_.channels_of(member); joined >= protocol::kMaxChannelsPerAgent)
    return Rejection{NackCode::BadRequest,
                     format("{} is already in {} channels; leave one first", member.value(), joined)};
  if (agents_.find(member.value()) == nullptr && !removal_.has_room_for_name())
    return Rejection{NackCode::Busy, format("the workspace already has {} agents; remove one first", agents_.size())};
  return std::nullopt;
}

void Channels::on_change(ConnectionState& connection, const protocol::Envelope& envelope, bool join) {
  const auto wanted = protocol::parse_channel_change(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  const bool for_another = !wanted->member.empty();
  const AgentName member = for_another ? AgentName{wanted->member} : connection.agent;
  if (const auto refused = check_member(connection, member))
    return connections_.send_error(connection, ErrorCode::Unauthorized, refused->message);
  if (const auto rejected = join ? check_join(member) : std::nullopt)
    return connections_.send_error(
        connection, rejected->code == NackCode::Busy ? ErrorCode::Busy : ErrorCode::BadRequest, rejected->message);
  if (join && agents_.find(member.value()) == nullptr)
    one_shot_.add(member.value());  // it exists from now on, so that messages of the channel are stored for it
  const std::string channel = folded_channel(wanted->channel);
  if (!change_membership(channel, member, join)) return;
  if (for_another) return;  // the administrative form is silent
  for (const AgentName& name : audiences_.members(channel)) {
    AgentState* other = name == member ? nullptr : agents_.find(name.value());
    if (other == nullptr) continue;
    for (const ConnectionId id : *other->connections) {
      ConnectionState* listener = connections_.find(id);
      if (listener != nullptr && listener->phase == Phase::Active) {
        connections_.send_new(*listener, join ? MessageType::ChannelJoin : MessageType::ChannelLeave, envelope.payload,
                              member.value());
      }
    }
  }
}

bool Channels::change_membership(const std::string& channel, const AgentName& member, bool join) {
  if (!(join ? audiences_.join(channel, member) : audiences_.leave(channel, member))) return false;
  records::Membership membership{folded_channel(channel), member};
  if (join)
    commits_.save_eventually(records::JoinChannel{std::move(membership)});
  else
    commits_.save_eventually(records::LeaveChannel{std::move(membership)});
  return true;
}

void Channels::on_channel_message(ConnectionState& connection, const protocol::Envelope& envelope,
                                  std::size_t frame_bytes) {
  SendContext sending{connection, envelope, router_.sender_of(connection), connection.agent, frame_bytes};
  if (replies_.answer_if_repeated(sending)) return;
  const auto wanted = protocol::parse_channel_message(envelope.payload);
  if (!wanted) return replies_.refuse(sending, NackCode::BadRequest, wanted.error().message());
  if (!router_.parse(sending)) return;
  sending.meta.sync.reset();  // a channel cannot answer
  if (!router_.check_sender(sending)) return;
  if (const auto late = router_.expired_reason(sending); !late.empty())
    return replies_.refuse(sending, NackCode::Expired, late);
  if (replies_.is_duplicate_key(sending)) return replies_.acknowledge_when_saved(sending);
  const auto members = audiences_.members(wanted->channel);
  if (!std::ranges::binary_search(members, connection.agent)) {
    return replies_.refuse(sending, NackCode::BadRequest,
                           format("you are not a member of {}; join it first", wanted->channel));
  }
  Audience audience;
  for (const AgentName& name : members) {
    AgentState* agent = name == connection.agent ? nullptr : agents_.find(name.value());
    if (agent != nullptr && audiences_.receives_channel(*agent, wanted->channel)) audience.push_back(agent);
  }
  sending.to = wanted->channel;
  if (const auto rejected = router_.check_policy_and_loops(sending, audience))
    return replies_.refuse(sending, *rejected);
  router_.accept(sending, wanted->channel, audience, FrameKind::ChannelMessage);
}

void Channels::on_message(SendContext& sending) {
  const auto data = parse_json_object(sending.view.data.empty() ? "{}" : sending.view.data);
  const json::object* update = data ? object_member(*data, "_channelMembershipUpdate") : nullptr;
  const auto channel = update != nullptr ? string_member(*update, "channel") : std::nullopt;
  const auto member = update != nullptr ? string_member(*update, "member") : std::nullopt;
  const auto action = update != nullptr ? string_member(*update, "action") : std::nullopt;
  if (!channel || !member || !action || (*action != "join" && *action != "leave") ||
      !protocol::check_agent_name(*member)) {
    return replies_.refuse(
        sending, NackCode::BadRequest,
        "a message to _router needs data._channelMembershipUpdate {channel, member, action: join|leave}");
  }
  if (const auto fine = protocol::check_channel_name(*channel); !fine)
    return replies_.refuse(sending, NackCode::BadRequest, fine.error().message());
  const AgentName name{*member};
  if (const auto refused = check_member(sending.connection, name)) return replies_.refuse(sending, *refused);
  if (*action == "join") {
    if (const auto rejected = check_join(name)) return replies_.refuse(sending, *rejected);
    if (agents_.find(name.value()) == nullptr) one_shot_.add(name.value());
  }
  change_membership(*channel, name, *action == "join");
  replies_.acknowledge_when_saved(sending);
}

void Channels::on_channels(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_channels(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  text::JsonWriter payload;
  if (wanted->empty()) {
    payload.begin_array("channels");
    for (const auto& [name, members] : audiences_.channels()) {
      if (payload.size() > protocol::kMaxResponseBytes) break;
      payload.begin_element().field("name", name).field("members", members.size()).end();
    }
    payload.end();
  } else {
    payload.field("channel", *wanted).begin_array("members");
    for (const AgentName& name : audiences_.members(*wanted)) {
      if (payload.size() > protocol::kMaxResponseBytes) break;
      const AgentState* member = agents_.find(name.value());
      payload.begin_element().field("name", name.value());
      payload.field("connected", member != nullptr && member->connected()).end();
    }
    payload.end();
  }
  connections_.respond(connection, MessageType::ChannelsResponse, envelope.id, payload.take());
}

}  // namespace relay::broker
