#include "api/handlers/handlers.h"
#include "base/format.h"
#include "protocol/limits.h"

namespace relay::api {
namespace {

using protocol::MessageType;

constexpr std::int64_t kMaxRows = 1'000;
constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kIdBytes = 12;

ApiError inside_agent(std::string_view which) {
  return {403, "INSIDE_AGENT", format("the request comes from a process inside {}", which), {}};
}

/// The agent that the caller runs inside, from the agent's host record; empty for the user.
ApiResult<std::string> calling_agent(Api& api, const WorkspaceHandle& workspace, const protocol::PeerOrigin& caller) {
  if (!caller.is_agent()) return std::string{};
  for (const auto& host : api.gateway.hosts_in(workspace.client.hosts()))
    if (host.socket == caller.host_socket) return host.name;
  return std::unexpected{inside_agent("an agent of another workspace; send from an agent of this one")};
}

protocol::DeliveryMode delivery_mode(Mode mode) {
  return protocol::parse_delivery_mode(schema::name_of(mode)).value_or(protocol::DeliveryMode::OnIdle);
}

/// `agent` is the one that the caller runs inside, or empty.
OutgoingMessage outgoing_message(Api& api, const std::string& to, const SendMessageRequest& message,
                                 const std::string& agent) {
  // A second send with the same id and sender is a duplicate and gets the same message id.
  OutgoingMessage outgoing{.id = message.idempotency_key ? "key-" + *message.idempotency_key : api.random.hex(kIdBytes),
                           .from = message.from.value_or(agent.empty() ? std::string{kUserName} : agent),
                           .claim_token = agent.empty() ? std::string{} : api.facts.system_token(),
                           .send = {.to = to, .body = message.message, .thread = message.thread.value_or("")}};
  auto& meta = outgoing.send.meta;
  meta.reply_to = message.reply_to.value_or("");
  meta.importance = message.importance;
  meta.requires_ack = message.requires_ack.value_or(false);
  meta.ttl_ms = message.ttl_ms;
  meta.delivery.emplace();
  if (message.mode) meta.delivery->mode = delivery_mode(*message.mode);
  if (message.urgent.value_or(false)) meta.delivery->priority = protocol::Priority::Urgent;
  return outgoing;
}

SendMessageResponse send_response_of(const json::object& ack) {
  return {.message_id = string_member(ack, "short_id").value_or(""),
          .recipients = integer_member(ack, "recipients"),
          .delivery_id = string_member(ack, "deliveryId"),
          .state = string_member(ack, "state"),
          .offline_since = integer_member(ack, "offlineSince"),
          .pending_reason = string_member(ack, "pendingReason"),
          .duplicate = bool_member(ack, "duplicate")};
}

}  // namespace

void send_message_to(Api& api, WorkspaceHandle workspace, const std::string& to, const SendMessageRequest& message,
                     Call call) {
  const auto agent = calling_agent(api, workspace, call.caller());
  if (!agent) return call.refuse(agent.error());
  if (!agent->empty() && message.from.value_or(*agent) != *agent)
    return call.refuse(
        inside_agent(format("the agent {}, which may not send as {}; omit \"from\"", *agent, *message.from)));
  workspace.sender.send(outgoing_message(api, to, message, *agent),
                        [call = std::move(call)](ApiResult<json::object> ack) mutable {
                          if (!ack) return call.refuse(ack.error());
                          call.answer(200, send_response_of(*ack));
                        });
}

void send_message(Api& api, WorkspaceHandle workspace, Call call) {
  const auto recipient = call.body_as<Recipient>();
  if (!recipient) return call.refuse(recipient.error());
  const auto message = call.body_as<SendMessageRequest>();
  if (!message) return call.refuse(message.error());
  send_message_to(api, workspace, recipient->to, *message, std::move(call));
}

void message_agent(Api& api, WorkspaceHandle workspace, Call call) {
  const auto message = call.body_as<SendMessageRequest>();
  if (!message) return call.refuse(message.error());
  const auto name = call.value("name");
  send_message_to(api, workspace, name, *message, std::move(call));
}

void list_messages(Api&, WorkspaceHandle workspace, Call call) {
  json::object query;
  struct Number {
    std::string_view name, wire;
    std::int64_t max;
  };
  for (const auto& [name, wire, max] :
       {Number{"limit", "limit", kMaxRows}, Number{"since", "sinceTs", kMaxInt64},
        Number{"after", "afterKey", kMaxInt64}, Number{"before", "beforeKey", kMaxInt64}}) {
    const auto number = call.number(name, name == "limit" ? 1 : 0, max);
    if (!number) return call.refuse(number.error());
    if (*number) query[wire] = **number;
  }
  for (const auto* name : {"from", "to", "thread", "topic", "search", "order"})
    if (const auto text = call.text(name); !text.empty()) query[name] = text;
  if (const auto order = call.text("order"); !order.empty() && order != "asc" && order != "desc")
    return call.refuse(bad_request("\"order\" must be asc or desc"));
  send_request(workspace.client, MessageType::MessagesQuery, std::move(query), std::move(call),
               [](Call reply, const json::object& response) {
                 json::object list;
                 const auto* rows = array_member(response, "messages");
                 list["messages"] = rows == nullptr ? json::array{} : *rows;
                 if (const auto more = bool_member(response, "more")) list["more"] = *more;
                 reply.answer(200, list);
               });
}

void trace_message(Api&, WorkspaceHandle workspace, Call call) {
  const auto id = call.value("messageId");
  send_request(workspace.client, MessageType::Trace, {{"id", id}}, std::move(call),
               [](Call reply, const json::object& response) { reply.answer(200, response); });
}

}  // namespace relay::api
