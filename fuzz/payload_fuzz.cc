/// Any payload: no parser crashes, and an accepted value keeps the invariants of its header.
///
/// The first byte selects the parser, the rest is the payload.
#include <array>
#include <cstdint>
#include <string>

#include "check.h"
#include "protocol/contract.h"
#include "protocol/control.h"
#include "protocol/hello.h"
#include "protocol/limits.h"
#include "protocol/prompt_requests.h"
#include "protocol/requests.h"
#include "protocol/send.h"
#include "protocol/worker_requests.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace {

using namespace relay::protocol;
using namespace relay::text;

void hello(std::string_view payload) {
  const auto parsed = parse_hello(payload);
  if (!parsed) return;
  FUZZ_CHECK(check_agent_name(parsed->agent));
  FUZZ_CHECK(parsed->capabilities.max_inflight >= 1 && parsed->capabilities.max_inflight <= kMaxInflight);
  FUZZ_CHECK(parsed->task.size() <= kMaxDescriptionBytes && is_utf8(parsed->task));
  FUZZ_CHECK(parsed->resume_token.size() <= kMaxTokenBytes && parsed->claim_token.size() <= kMaxTokenBytes);
  FUZZ_CHECK(parsed->capabilities.contract.size() <= kMaxCapabilitiesBytes);
  // Written capabilities are parsed back unchanged.
  JsonWriter writer;
  writer.field("agent", parsed->agent).begin_object("capabilities");
  write_contract(writer, parsed->capabilities);
  const auto again = parse_hello(writer.end().take());
  FUZZ_CHECK(again && again->capabilities.modes == parsed->capabilities.modes);
  FUZZ_CHECK(again->capabilities.queue == parsed->capabilities.queue);
  FUZZ_CHECK(again->capabilities.pause == parsed->capabilities.pause);
}

void welcome(std::string_view payload) {
  const auto parsed = parse_welcome(payload);
  if (!parsed) return;
  FUZZ_CHECK(parsed->max_frame_bytes > 0 && parsed->max_frame_bytes <= kMaxFrameBytes && parsed->heartbeat_ms > 0);
  const auto again = parse_welcome(write_welcome(
      {.session_id = parsed->session_id, .resume_token = parsed->resume_token, .heartbeat_ms = parsed->heartbeat_ms}));
  FUZZ_CHECK(again && again->session_id == parsed->session_id && again->heartbeat_ms == parsed->heartbeat_ms);
}

void resume(std::string_view payload) {
  const auto parsed = parse_resume(payload);
  if (parsed) FUZZ_CHECK(!parsed->session_id.empty() && parsed->streams.size() <= kMaxStreamsInResume);
}

void send(std::string_view payload) {
  const auto view = parse_send(payload);
  if (!view) return;
  FUZZ_CHECK(!view->kind_name.empty() && view->kind_name.size() <= kMaxKindBytes);
  const std::string spliced = splice_data(payload, *view, R"("_offlineQueued":true)");
  const auto again = parse_send(spliced);
  FUZZ_CHECK(again && !again->data.empty());
  FUZZ_CHECK(again->data.ends_with(R"("_offlineQueued":true})"));
  FUZZ_CHECK(again->body == view->body && again->thread == view->thread && again->kind_name == view->kind_name);
}

void meta(std::string_view payload) {
  const auto parsed = parse_send_meta(payload);
  if (!parsed) return;
  if (parsed->ttl_ms) FUZZ_CHECK(*parsed->ttl_ms >= 0 && *parsed->ttl_ms <= kMaxTtlMs);
  if (parsed->importance) FUZZ_CHECK(*parsed->importance >= 0 && *parsed->importance <= 100);
  if (parsed->sync) FUZZ_CHECK(!parsed->sync->correlation_id.empty() && parsed->sync->timeout_ms >= 0);
  if (parsed->delivery) FUZZ_CHECK(parsed->delivery->deadline >= 0);
}

void ack(std::string_view payload) {
  const auto parsed = parse_ack(payload);
  if (!parsed) return;
  const auto again = parse_ack(write_ack(parsed->ack_id, parsed->seq));
  FUZZ_CHECK(again && again->ack_id == parsed->ack_id && again->seq == parsed->seq);
}

void nack(std::string_view payload) {
  const auto parsed = parse_nack(payload);
  if (!parsed) return;
  const auto again = parse_nack(write_nack(parsed->nack_id, NackCode::Busy, parsed->message, parsed->retry_after_ms));
  FUZZ_CHECK(again && again->message == parsed->message && again->retry_after_ms == parsed->retry_after_ms);
}

void error(std::string_view payload) {
  const auto parsed = parse_error(payload);
  if (parsed) FUZZ_CHECK(parsed->message.size() <= kMaxReasonBytes);
}

void delivery(std::string_view payload) {
  const auto parsed = parse_delivery(payload);
  if (!parsed) return;
  const auto again = parse_delivery(
      write_delivery({parsed->seq, parsed->session_id, parsed->original_to, parsed->as_user, parsed->message_id,
                      parsed->lane, parsed->mode, parsed->attempt, parsed->reason, parsed->expires_at}));
  FUZZ_CHECK(again && again->as_user == parsed->as_user && again->seq == parsed->seq &&
             again->original_to == parsed->original_to);
  FUZZ_CHECK(again->lane == parsed->lane && again->mode == parsed->mode);
  FUZZ_CHECK(again->attempt == parsed->attempt && again->reason == parsed->reason);
  FUZZ_CHECK(again->expires_at == parsed->expires_at);
}

void receipt(std::string_view payload) {
  const auto parsed = parse_receipt(payload);
  if (!parsed) return;
  const auto again = parse_receipt(write_receipt(*parsed));
  FUZZ_CHECK(again && again->status == parsed->status && again->available_at == parsed->available_at);
  FUZZ_CHECK(again->reason == parsed->reason && again->retryable == parsed->retryable);
}

void channel_change(std::string_view payload) { (void)parse_channel_change(payload); }
void channel_post(std::string_view payload) {
  const auto parsed = parse_channel_message(payload);
  if (parsed) FUZZ_CHECK(check_channel_name(parsed->channel));
}
void shadow_bind(std::string_view payload) { (void)parse_shadow_bind(payload); }
void shadow_unbind(std::string_view payload) { (void)parse_shadow_unbind(payload); }
void inbox(std::string_view payload) {
  const auto parsed = parse_inbox(payload);
  if (parsed) FUZZ_CHECK(parsed->limit <= kMaxQueryRows);
}
void messages(std::string_view payload) {
  const auto parsed = parse_messages_query(payload);
  if (parsed) FUZZ_CHECK(parsed->limit <= kMaxQueryRows && parsed->after_key >= 0);
}
void list_agents(std::string_view payload) { (void)parse_list_agents(payload); }
void remove_agent(std::string_view payload) { (void)parse_remove_agent(payload); }
void health(std::string_view payload) { (void)parse_health(payload); }
void metrics(std::string_view payload) { (void)parse_metrics(payload); }
void name(std::string_view payload) { (void)parse_name(payload); }
void trace(std::string_view payload) { (void)parse_trace(payload); }
void events(std::string_view payload) {
  const auto parsed = parse_events_subscribe(payload);
  if (parsed) FUZZ_CHECK(parsed->filter.types.size() <= kMaxEventTypes && parsed->since >= -1);
  const auto page = parse_events_query(payload);
  if (page) FUZZ_CHECK(page->limit <= kMaxQueryRows && page->after >= 0);
  (void)parse_usage_query(payload);
  (void)parse_session_query(payload);
  (void)parse_agent_event(payload);
}
void log_line(std::string_view payload) { (void)parse_log(payload); }
void session_state(std::string_view payload) { (void)parse_session_state(payload); }
void workspace(std::string_view payload) {
  const auto parsed = parse_workspace(payload);
  if (parsed) FUZZ_CHECK(parsed->root.starts_with('/') && parsed->root.find('\0') == std::string::npos);
}

void spawn(std::string_view payload) {
  const auto parsed = parse_spawn(payload);
  if (!parsed) return;
  FUZZ_CHECK(check_agent_name(parsed->name) && !is_reserved_name(parsed->name));
  FUZZ_CHECK(!parsed->argv.empty() && !parsed->argv.front().empty());
  FUZZ_CHECK(parsed->argv.size() <= kMaxCommandBytes + kMaxArguments);
  for (const auto& word : parsed->argv) FUZZ_CHECK(word.find('\0') == std::string::npos);
  for (const auto* text : {&parsed->directory, &parsed->team, &parsed->model, &parsed->spawner})
    FUZZ_CHECK(text->find('\0') == std::string::npos);
}
void release(std::string_view payload) {
  const auto parsed = parse_release(payload);
  if (parsed) FUZZ_CHECK(!parsed->name.empty() && parsed->reason.size() <= kMaxReasonBytes);
}
void send_input(std::string_view payload) {
  const auto parsed = parse_send_input(payload);
  if (parsed) FUZZ_CHECK(!parsed->data.empty() && parsed->data.size() <= kMaxInputBytes);
}

void control(std::string_view payload) {
  const auto parsed = parse_control(payload);
  if (!parsed) return;
  FUZZ_CHECK(parsed->reason.size() <= kMaxReasonBytes && parsed->delivery_id.size() <= kMaxIdBytes);
  if (parsed->rules) FUZZ_CHECK(parsed->rules->size() <= kMaxPolicyRules);
}
void dead(std::string_view payload) {
  const auto parsed = parse_dead(payload);
  if (parsed) FUZZ_CHECK(parsed->limit <= kMaxQueryRows && parsed->before_key >= 0);
}
void policy(std::string_view payload) {
  const auto parsed = parse_policy(payload);
  if (!parsed) return;
  const auto again = parse_policy(write_policy(*parsed));
  FUZZ_CHECK(again && *again == *parsed);
}
void channels(std::string_view payload) {
  const auto parsed = parse_channels(payload);
  if (parsed && !parsed->empty()) FUZZ_CHECK(check_channel_name(*parsed));
}
void prompts(std::string_view payload) {
  const auto parsed = parse_prompts(payload);
  if (parsed) FUZZ_CHECK(parsed->size() <= kMaxNameBytes);
}
void answer(std::string_view payload) {
  const auto parsed = parse_answer(payload);
  if (!parsed) return;
  FUZZ_CHECK(!parsed->agent.empty() && !parsed->request.empty());
  FUZZ_CHECK(parsed->decision || !parsed->answers.empty());
  FUZZ_CHECK(parsed->answers.size() <= kMaxAnswers);
  const auto again = parse_answer(write_answer(*parsed));
  FUZZ_CHECK(again && again->request == parsed->request && again->decision == parsed->decision);
  FUZZ_CHECK(again->answers == parsed->answers && again->reason == parsed->reason && again->by == parsed->by);
}
void pause(std::string_view payload) {
  const auto parsed = parse_pause(payload);
  if (!parsed) return;
  const auto again = parse_pause(write_pause(*parsed));
  FUZZ_CHECK(again && again->paused == parsed->paused && again->reason == parsed->reason);
}
void cancel(std::string_view payload) {
  const auto parsed = parse_cancel(payload);
  if (!parsed) return;
  const auto again = parse_cancel(write_cancel(*parsed));
  FUZZ_CHECK(again && again->delivery_id == parsed->delivery_id && again->reason == parsed->reason);
}
void session_capabilities(std::string_view payload) {
  const auto parsed = parse_session_capabilities(payload);
  if (!parsed) return;
  const auto again = parse_session_capabilities(write_session_capabilities(*parsed));
  FUZZ_CHECK(again && again->delivery.modes == parsed->delivery.modes && again->events.emits == parsed->events.emits);
}

/// The event of any SEND fits a frame and can be parsed at its nesting depth.
void event_of(std::string_view payload) {
  const DeliveryEvent event{.delivery_id = "d-1",
                            .message = message_from({.id = "m", .from = "Alice", .to = "Bob", .payload = payload}),
                            .agent = identity_of("Bob")};
  const auto text = write_delivery_event(event);
  FUZZ_CHECK(text.size() <= kMaxFrameBytes - kEnvelopeReserveBytes);
  const auto again = parse_delivery_event(text);
  FUZZ_CHECK(again && again->message.id == "m" && again->message.thread == event.message.thread);
  const auto frame = "{\"payload\":" + text + "}";
  struct : MemberVisitor {
    void member(std::string_view, JsonSlice) override {}
  } looker;
  FUZZ_CHECK(scan_object(frame, looker));
  (void)context_from("d-1", {}, payload, event.message, "Bob");
}
void relay_message(std::string_view payload) {
  const auto parsed = parse_message(payload);
  if (!parsed) return;
  const auto again = parse_message(write_message(*parsed));
  FUZZ_CHECK(again && *again == *parsed);
}
void delivery_event(std::string_view payload) {
  const auto parsed = parse_delivery_event(payload);
  if (!parsed) return;
  const auto again = parse_delivery_event(write_delivery_event(*parsed));
  FUZZ_CHECK(again && again->type == parsed->type && again->agent == parsed->agent);
}

using Parser = void (*)(std::string_view);
constexpr std::size_t kFirstCapital = 29;  // the parsers before it have lower-case letters
constexpr std::array<Parser, 41> kParsers = {
    hello,         welcome,       resume,         send,     meta,           ack,
    nack,          error,         delivery,       receipt,  channel_change, channel_post,
    shadow_bind,   shadow_unbind, inbox,          messages, list_agents,    remove_agent,
    health,        metrics,       name,           trace,    events,         log_line,
    session_state, workspace,     spawn,          release,  send_input,     control,
    dead,          policy,        channels,       pause,    cancel,         session_capabilities,
    event_of,      relay_message, delivery_event, prompts,  answer};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view payload{reinterpret_cast<const char*>(data) + 1, size - 1};
  if (payload.size() > kMaxFrameBytes || !is_utf8(payload)) return 0;  // the envelope refuses these earlier
  // Letters keep the corpus readable: 'a' is the first parser, 'A' is `control`.
  const std::size_t selector = data[0];
  const std::size_t index = selector >= 'a' ? selector - 'a' : kFirstCapital + (selector + 256 - 'A') % 256;
  kParsers[index % kParsers.size()](payload);
  return 0;
}
