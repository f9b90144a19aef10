// Requests: a SEND whose sender waits for the answer, and which message is that answer.
//
// An answer names the request (`replyTo`), is in its thread, or is plain: when exactly one request of the asker to that
// agent is open, the agent's next message to the asker that names nothing else. A plain answer is stored with the
// request's `replyTo`, so that every reader finds it. A request ends with its answer, its time, or its asker's connection.
#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "broker/core.h"
#include "records/short_id.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;

namespace {

constexpr std::size_t kMaxOpenRequests = 10'000;      // in a workspace
constexpr std::size_t kMaxRequestsPerClient = 1'000;  // of one connection

/// Kinds that tell something without answering anything.
bool is_aside(const protocol::SendView& view) {
  return protocol::is_silent(view) || view.kind == protocol::MessageKind::Thinking;
}

/// Does the agent work on something that it was given before?
bool is_working(const AgentState* agent) {
  return agent != nullptr && agent->connected() && agent->activity.state == "active";
}

}  // namespace

bool Core::await_answer(SendContext& sending) {
  const auto& sync = *sending.meta.sync;
  const auto refuse_sync = [&](NackCode refusal, const std::string& reason) {
    if (sending.connection.wants_answers())
      refuse(sending, refusal, reason, kBusyRetryMs);
    else
      error(sending.connection, ErrorCode::Internal, reason);
    return false;
  };
  const auto timeout =
      sync.timeout_ms > 0 ? std::min(sync.timeout_ms, protocol::kMaxSyncTimeoutMs) : protocol::kDefaultSyncTimeoutMs;
  if (const auto open = syncs_.find(sync.correlation_id); open != syncs_.end()) {
    const bool same = open->second.asker == sending.connection.id && open->second.message == sending.envelope.id;
    return same ||
           refuse_sync(NackCode::BadRequest, format("the correlation id {} is in use already", sync.correlation_id));
  }
  if (syncs_.size() >= kMaxOpenRequests)
    return refuse_sync(NackCode::Busy, "too many blocking messages are open; try again later");
  if (sending.connection.open_requests >= kMaxRequestsPerClient)
    return refuse_sync(NackCode::Busy, format("{} blocking messages of this connection are open; wait for an answer",
                                              sending.connection.open_requests));
  const std::string_view to = sending.envelope.to;
  const bool direct = find_agent(to) != nullptr;
  const SteadyTime due = now_.steady + Millis{timeout};
  syncs_.emplace(sync.correlation_id, PendingSync{.asker = sending.connection.id,
                                                  .message = std::string{sending.envelope.id},
                                                  .to = direct ? std::string{to} : std::string{},
                                                  .due = due,
                                                  .from = sending.from.value(),
                                                  .thread = sending.view.thread});
  if (direct) syncs_with_.emplace(std::string{to}, sync.correlation_id);
  ++sending.connection.open_requests;
  timers_.arm(due, {.kind = TimerKind::SyncTimeout, .name = sync.correlation_id});
  return true;
}

void Core::end_sync(Syncs::iterator sync) {
  const auto [first, last] = syncs_with_.equal_range(sync->second.to);
  const auto asked = std::find_if(first, last, [&](const auto& entry) { return entry.second == sync->first; });
  if (asked != last) syncs_with_.erase(asked);
  if (ConnectionState* asker = find(sync->second.asker)) --asker->open_requests;
  syncs_.erase(sync);
}

void Core::end_requests_of(const ConnectionState& asker) {
  for (auto sync = syncs_.begin(); asker.open_requests > 0 && sync != syncs_.end();) {
    const auto here = sync++;
    if (here->second.asker == asker.id) end_sync(here);
  }
}

void Core::mark_request_given(const AgentName& asked, Key message) {
  const auto [first, last] = syncs_with_.equal_range(asked.value());
  for (auto entry = first; entry != last; ++entry)
    if (PendingSync& sync = syncs_.at(entry->second); sync.key == message) sync.given = true;
}

void Core::mark_plain_answer(const SendContext& sending, records::Message& message) {
  const auto [first, last] = syncs_with_.equal_range(message.from.value());
  if (first == last || !message.thread.empty() || is_aside(sending.view) ||
      message.payload_meta.find("\"replyTo\"") != std::string::npos)
    return;
  PendingSync* only = nullptr;
  for (auto entry = first; entry != last; ++entry) {
    PendingSync& sync = syncs_.at(entry->second);
    if (sync.from != message.to || sync.key == Key{}) continue;
    if (only != nullptr) return;
    only = &sync;
  }
  if (only == nullptr || only->answer != Key{}) return;
  // What an agent says in a turn that began before it was given the request is about something else.
  if (!only->given && is_working(find_agent(message.from.value()))) return;
  only->answer = message.key;
  if (limits_.explain)
    note(WriteLog::Level::Debug,
         format("plain answer recognised message={} request={} from={} to={}", records::short_id(message.key),
                records::short_id(only->key), message.from.value(), message.to));
  message.payload_meta = protocol::with_reply_to(message.payload_meta, records::short_id(only->key));
}

void Core::forget_request(const records::Message& message) {
  const auto [first, last] = syncs_with_.equal_range(message.from.value());
  for (auto entry = first; entry != last; ++entry)
    if (PendingSync& sync = syncs_.at(entry->second); sync.answer == message.key) sync.answer = {};
  if (message.payload_meta.find("\"sync\"") == std::string::npos) return;
  for (auto& [id, sync] : syncs_)
    if (sync.key == message.key) sync.key = {};  // it comes again under the same id
}

std::optional<AgentName> Core::answer_syncs(const records::Message& message) {
  const auto [first, last] = syncs_with_.equal_range(message.from.value());
  if (first == last) return std::nullopt;
  const auto meta = protocol::parse_send_meta(message.payload_meta);
  const auto view = protocol::parse_send(message.payload);
  const auto names = [&](const PendingSync& sync) {
    return meta && !meta->reply_to.empty() &&
           (meta->reply_to == sync.message || meta->reply_to == records::short_id(sync.key));
  };
  const auto answers = [&](const PendingSync& sync) {
    if (sync.from != message.to || sync.key == Key{}) return false;
    return names(sync) || (!sync.thread.empty() && sync.thread == message.thread);
  };
  const auto found = std::find_if(first, last, [&](const auto& entry) { return answers(syncs_.at(entry.second)); });
  if (found == last) return std::nullopt;
  std::optional<AgentName> answered;
  const auto sync = syncs_.find(found->second);
  if (ConnectionState* asker = find(sync->second.asker); asker != nullptr && asker->speaks()) {
    const std::string_view matched = sync->second.answer == message.key ? "only-request"
                                     : names(sync->second)              ? "reply"
                                                                        : "thread";
    text::JsonWriter payload;
    payload.field("ack_id", sync->second.message).field("correlationId", sync->first);
    payload.raw("response", view && !view->body.empty() ? view->body : "\"\"");
    payload.field("messageId", records::short_id(message.key)).field("matchedBy", matched);
    send_new(*asker, MessageType::Ack, payload.take(), message.from.value(), sync->second.from);
    answered = AgentName{sync->second.from};
  }
  end_sync(sync);
  return answered;
}

std::optional<records::Proof> Core::best_proof(const AgentState& agent) const {
  if (!agent.connected() || !agent.session) return std::nullopt;
  const auto& can = agent.session->capabilities;
  if (!can.modes) return can.ack ? records::Proof::Accepted : records::Proof::Written;
  // A host tells it with its state; a session that is the agent itself declares it, or says no more than that it took it.
  const auto told = parse_json_object(can.queue ? agent.activity.capabilities : can.contract);
  const json::object* delivery = told && !can.queue ? object_member(*told, "delivery") : nullptr;
  const auto proof = can.queue ? (told ? string_member(*told, "proof") : std::nullopt)
                               : (delivery != nullptr ? string_member(*delivery, "proof") : std::nullopt);
  for (const auto each :
       {records::Proof::Accepted, records::Proof::Written, records::Proof::Submitted, records::Proof::Seen})
    if (proof == name_of(each)) return each;
  return can.queue ? std::nullopt : std::optional{records::Proof::Accepted};
}

}  // namespace relay::broker
