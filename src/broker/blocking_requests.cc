#include "broker/blocking_requests.h"

#include <algorithm>

#include "base/format.h"
#include "records/short_id.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;

namespace {

constexpr std::size_t kMaxOpenRequests = 10'000;      // in a workspace
constexpr std::size_t kMaxRequestsPerClient = 1'000;  // of one connection

/// Kinds that cannot be an answer.
bool is_no_answer(const protocol::SendView& view) {
  return protocol::is_silent(view) || view.kind == protocol::MessageKind::Thinking;
}

/// True if the agent is working on an earlier message.
bool is_working(const AgentState* agent) {
  return agent != nullptr && agent->connected() && agent->activity->state.state == "active";
}

}  // namespace

std::optional<Rejection> BlockingRequests::open(SendContext& sending) {
  const auto& sync = *sending.meta.sync;
  const auto timeout =
      sync.timeout_ms > 0 ? std::min(sync.timeout_ms, protocol::kMaxSyncTimeoutMs) : protocol::kDefaultSyncTimeoutMs;
  if (const auto found = requests_.find(sync.correlation_id); found != requests_.end()) {
    const Request& request = found->second;
    if (request.requester == sending.connection.id && request.message == sending.envelope.id) return std::nullopt;
    return Rejection{NackCode::BadRequest, format("the correlation id {} is already in use", sync.correlation_id),
                     kBusyRetryMs};
  }
  if (requests_.size() >= kMaxOpenRequests)
    return Rejection{NackCode::Busy, "too many blocking messages are open; try again later", kBusyRetryMs};
  std::size_t& own = *sending.connection.blocking_requests;
  if (own >= kMaxRequestsPerClient)
    return Rejection{NackCode::Busy,
                     format("{} blocking messages of this connection are open; wait for an answer", own), kBusyRetryMs};
  const std::string_view to = sending.envelope.to;
  const bool direct = agents_.find(to) != nullptr;
  const SteadyTime due = context_.steady() + Millis{timeout};
  requests_.emplace(sync.correlation_id, Request{.requester = sending.connection.id,
                                                 .message = std::string{sending.envelope.id},
                                                 .to = direct ? std::string{to} : std::string{},
                                                 .due = due,
                                                 .from = sending.from.value(),
                                                 .thread = sending.view.thread});
  if (direct) by_recipient_.emplace(std::string{to}, sync.correlation_id);
  ++own;
  context_.arm(due, {.kind = TimerKind::SyncTimeout, .name = sync.correlation_id});
  return std::nullopt;
}

void BlockingRequests::set_key(const std::string& correlation_id, Key message) {
  if (const auto found = requests_.find(correlation_id); found != requests_.end()) found->second.key = message;
}

void BlockingRequests::close(Table::iterator request) {
  const auto [first, last] = by_recipient_.equal_range(request->second.to);
  const auto indexed = std::find_if(first, last, [&](const auto& entry) { return entry.second == request->first; });
  if (indexed != last) by_recipient_.erase(indexed);
  if (ConnectionState* requester = connections_.find(request->second.requester)) --*requester->blocking_requests;
  requests_.erase(request);
}

void BlockingRequests::close_all_of(const ConnectionState& requester) {
  for (auto next = requests_.begin(); *requester.blocking_requests > 0 && next != requests_.end();) {
    const auto request = next++;
    if (request->second.requester == requester.id) close(request);
  }
}

void BlockingRequests::mark_delivered(const AgentName& recipient, Key message) {
  const auto [first, last] = by_recipient_.equal_range(recipient.value());
  for (auto entry = first; entry != last; ++entry)
    if (Request& request = requests_.at(entry->second); request.key == message) request.delivered = true;
}

void BlockingRequests::mark_plain_answer(const SendContext& sending, records::Message& message) {
  const auto [first, last] = by_recipient_.equal_range(message.from.value());
  if (first == last || !message.thread.empty() || is_no_answer(sending.view) ||
      message.payload_meta.find("\"replyTo\"") != std::string::npos)
    return;
  Request* only = nullptr;
  for (auto entry = first; entry != last; ++entry) {
    Request& request = requests_.at(entry->second);
    if (request.from != message.to || request.key == Key{}) continue;
    if (only != nullptr) return;
    only = &request;
  }
  if (only == nullptr || only->answer != Key{}) return;
  // A turn that started before the agent got the request is about something else.
  if (!only->delivered && is_working(agents_.find(message.from.value()))) return;
  only->answer = message.key;
  if (context_.limits().explain)
    context_.log(WriteLog::Level::Debug,
                 format("plain answer recognized message={} request={} from={} to={}", records::short_id(message.key),
                        records::short_id(only->key), message.from.value(), message.to));
  message.payload_meta = protocol::with_reply_to(message.payload_meta, records::short_id(only->key));
}

void BlockingRequests::forget(const records::Message& message) {
  const auto [first, last] = by_recipient_.equal_range(message.from.value());
  for (auto entry = first; entry != last; ++entry)
    if (Request& request = requests_.at(entry->second); request.answer == message.key) request.answer = {};
  if (message.payload_meta.find("\"sync\"") == std::string::npos) return;
  for (auto& [id, request] : requests_)
    if (request.key == message.key) request.key = {};  // it is sent again under the same id
}

std::optional<AgentName> BlockingRequests::answer_with(const records::Message& message) {
  const auto [first, last] = by_recipient_.equal_range(message.from.value());
  if (first == last) return std::nullopt;
  const auto meta = protocol::parse_send_meta(message.payload_meta);
  const auto view = protocol::parse_send(message.payload);
  const auto names = [&](const Request& request) {
    return meta && !meta->reply_to.empty() &&
           (meta->reply_to == request.message || meta->reply_to == records::short_id(request.key));
  };
  const auto answers = [&](const Request& request) {
    if (request.from != message.to || request.key == Key{}) return false;
    return names(request) || (!request.thread.empty() && request.thread == message.thread);
  };
  const auto found = std::find_if(first, last, [&](const auto& entry) { return answers(requests_.at(entry.second)); });
  if (found == last) return std::nullopt;
  std::optional<AgentName> answered;
  const auto request = requests_.find(found->second);
  if (ConnectionState* requester = connections_.find(request->second.requester);
      requester != nullptr && requester->is_open()) {
    const std::string_view matched = request->second.answer == message.key ? "only-request"
                                     : names(request->second)              ? "reply"
                                                                           : "thread";
    text::JsonWriter payload;
    payload.field("ack_id", request->second.message).field("correlationId", request->first);
    payload.raw("response", view && !view->body.empty() ? view->body : "\"\"");
    payload.field("messageId", records::short_id(message.key)).field("matchedBy", matched);
    connections_.send_new(*requester, MessageType::Ack, payload.take(), message.from.value(), request->second.from);
    answered = AgentName{request->second.from};
  }
  close(request);
  return answered;
}

void BlockingRequests::answer_with_ack(const ConnectionState& answering, const protocol::Ack& ack,
                                       std::string_view payload) {
  const auto request = requests_.find(ack.correlation_id);
  if (request == requests_.end()) return;
  if (!request->second.to.empty() && request->second.to != answering.agent->value()) return;
  if (ConnectionState* requester = connections_.find(request->second.requester);
      requester != nullptr && requester->is_open())
    connections_.send_new(*requester, MessageType::Ack, payload, answering.agent->value(), requester->agent->value());
  close(request);
}

void BlockingRequests::on_timeout(const std::string& correlation_id) {
  const auto request = requests_.find(correlation_id);
  if (request == requests_.end() || request->second.due > context_.steady()) return;
  if (ConnectionState* requester = connections_.find(request->second.requester);
      requester != nullptr && requester->is_open())
    connections_.send_error(*requester, ErrorCode::Internal,
                            format("no answer to the blocking message {} in time", correlation_id));
  close(request);
}

}  // namespace relay::broker
