#include "broker/testing/scenario.h"

#include "base/format.h"
#include "broker/testing/sessions.h"

namespace relay::broker::testing {

using namespace std::chrono_literals;
using protocol::DeliveryMode;
using records::DeliveryState;
using records::Hold;
using records::Proof;

namespace {

constexpr std::size_t kMaxRounds = 64;
constexpr auto kTimeToLive = 3s;  // shorter than the first repetition of a DELIVER

std::string capabilities_of(SessionType type) {
  constexpr std::string_view kLibraryClient = R"("capabilities":{{"ack":true,"send_ack":true,"delivery":{},)"
                                              R"("lifecycle":{{"release":true,"pause":true}}}})";
  switch (type) {
    case SessionType::Pty: return format(kLibraryClient, R"({"modes":["immediate","on-idle","manual"],"queue":true})");
    case SessionType::Native:
      return format(kLibraryClient,
                    R"({"modes":["immediate","next-message","next-tool-call","on-idle","manual"],"queue":true})");
    case SessionType::Callback:
      return format(kLibraryClient, R"({"modes":["immediate","next-message","next-tool-call","on-idle","manual"]})");
    case SessionType::Pull:
      return format(kLibraryClient,
                    R"({"modes":["immediate","next-message","next-tool-call","on-idle","manual"],"queue":true})");
    case SessionType::Published: return R"("capabilities":{"ack":true,"resume":true,"max_inflight":64})";
  }
  std::unreachable();
}

std::string sign_of(const records::HistoryEntry& entry) {
  switch (entry.state) {
    case DeliveryState::Queued: return "q";
    case DeliveryState::Accepted: return entry.proof == Proof::Written ? "w" : "a";
    case DeliveryState::Delivered:
      return entry.proof == Proof::Seen ? "v" : entry.proof == Proof::Submitted ? "s" : "c";
    case DeliveryState::Deferred:
      if (entry.reason.starts_with("attempt ")) return "t";
      if (entry.reason.starts_with("the policy")) return "h";
      return entry.reason.contains("does not support") ? "du" : "d";
    case DeliveryState::Failed: return "F";
    case DeliveryState::Expired: return "E";
    case DeliveryState::Cancelled: return "C";
    case DeliveryState::InDoubt: return "?";
    case DeliveryState::Dead: return "†";
  }
  std::unreachable();
}

std::string summary_of(const Frame& frame) {
  const auto& fields = payload(frame);
  const std::string type = type_of(frame);
  if (type == "ACK") return integer_member(fields, "offlineSince") ? "ACK " + string_field(fields, "state") : "ACK";
  if (type == "NACK") return "NACK " + string_field(fields, "code");
  return type == "RECEIPT" ? receipt_summary(frame) : "";
}

}  // namespace

ScenarioResult Scenario::run() {
  set_up();
  send();
  if (case_.fault == Fault::Refused) return std::move(result_);
  process_frames();
  if (case_.fault == Fault::Restart && !fault_done_) restart_daemon();
  if (case_.fault == Fault::Expires) {
    mark("[time]");
    fixture_.advance(kTimeToLive + 100ms);
    record();
    const bool unsettled = !delivery_.empty() && case_.session != SessionType::Published;
    const bool cancelled = connected_ && !fixture_.received(bob_, "CANCEL").empty();
    if (cancelled != unsettled) result_.errors.push_back(unsettled ? "no CANCEL" : "CANCEL without a delivery");
  }
  if (!ended() || case_.fault == Fault::Expires) {
    if (!connected_) reconnect();
    if (case_.state == RecipientState::Paused) {
      if (!ended()) mark("[unpause]");
      fixture_.control(user_, R"("action":"unpause","agent":"Bob")");
    }
    process_frames();
  }
  for (std::size_t round = 0; round < kMaxRounds && !ended() && release_once(); ++round) process_frames();
  record();
  if (recorded_ > 0 && !records::is_final(entry().delivery.state)) result_.trail.emplace_back("…");
  return std::move(result_);
}

void Scenario::set_up() {
  alice_ = fixture_.join("Alice", R"("capabilities":{"ack":true,"send_ack":true,"receipt_steps":true})");
  user_ = fixture_.join_user();
  bob_ = fixture_.join("Bob", capabilities_of(case_.session));
  token_ = token_of(fixture_, bob_);
  working_ = case_.state == RecipientState::Working;
  report_recipient_state();
  if (case_.state == RecipientState::Paused) fixture_.control(user_, R"("action":"pause","agent":"Bob")");
  if (case_.state == RecipientState::Offline) {
    fixture_.disconnect(bob_);
    connected_ = false;
  }
  if (case_.fault == Fault::Held || case_.fault == Fault::Refused)
    fixture_.control(user_, format(R"("action":"policy","agent":"Bob","rules":[{{"from":"Alice","action":"{}"}}])",
                                   case_.fault == Fault::Held ? "hold" : "refuse"));
  fixture_.drop_received(alice_);
}

void Scenario::send() {
  const std::string options =
      format(R"("payload_meta":{{"delivery":{{"mode":"{}"}}{}}})", name_of(case_.mode),
             case_.fault == Fault::Expires ? format(R"(,"ttl_ms":{})", Millis{kTimeToLive}.count()) : "");
  if (case_.fault == Fault::NotStored) {
    fixture_.fail_commits();
    fixture_.send(alice_, "message-1", "Bob", "hello", options);
    fixture_.accept_commits();
    mark("⊘");
    fixture_.advance(1100ms);
  }
  fixture_.send(alice_, "message-1", "Bob", "hello", options);
  record();
}

/// Published clients report no state.
void Scenario::report_recipient_state() {
  if (case_.session == SessionType::Published) return;
  fixture_.report_state(bob_, working_ ? "active" : case_.state == RecipientState::Blocked ? "blocked" : "idle");
}

void Scenario::reconnect() {
  if (!ended()) mark("[back]");
  bob_ = fixture_.join("Bob", capabilities_of(case_.session) + "," + with_token(token_));
  connected_ = true;
  report_recipient_state();
}

void Scenario::restart_daemon() {
  fault_done_ = true;
  mark("⟲");
  fixture_.restart();
  seen_.clear();
  alice_ = fixture_.join("Alice", R"("capabilities":{"ack":true,"send_ack":true,"receipt_steps":true})");
  user_ = fixture_.join_user();
  if (!connected_) return;
  bob_ = fixture_.join("Bob", capabilities_of(case_.session) + "," + with_token(token_));
  report_recipient_state();
}

bool Scenario::release_once() {
  const auto delivery = entry().delivery;
  const bool by_broker = case_.session == SessionType::Callback;
  if (delivery.hold == Hold::Time) {
    mark("[later]");
    fixture_.advance(Millis{delivery.available_at - fixture_.now().wall});
  } else if (delivery.hold == Hold::Policy || delivery.lane.mode == DeliveryMode::Manual) {
    mark("[flush]");
    fixture_.control(user_, R"("action":"flush","agent":"Bob")");
  } else if (by_broker && delivery.lane.mode == DeliveryMode::NextMessage) {
    mark("[boundary]");
    fixture_.report_state(bob_, "active", R"("boundary":"message")");
  } else if (by_broker && delivery.lane.mode == DeliveryMode::NextToolCall) {
    mark("[boundary]");
    fixture_.report_state(bob_, "active", R"("boundary":"tool-call")");
  } else if (by_broker && std::exchange(working_, false)) {
    mark("[idle]");
    report_recipient_state();
  } else {
    return false;
  }
  return true;
}

void Scenario::process_frames() {
  record();
  if (!connected_) return;
  for (auto frames = fixture_.received(bob_); !frames.empty(); frames = fixture_.received(bob_)) {
    const ConnectionId connection = bob_;
    for (const auto& frame : frames) {
      if (type_of(frame) == "DELIVER" && bob_ == connection) on_deliver(frame);
    }
  }
  record();
}

void Scenario::on_deliver(const Frame& deliver) {
  mark("⇒");
  const std::string id = string_field(deliver, "id");
  if (!delivery_.empty() && id != delivery_) result_.errors.push_back(format("{} became {}", delivery_, id));
  if (ended()) result_.errors.push_back("DELIVER after the final state");
  delivery_ = id;
  const auto lane = integer_member(delivery_block(deliver), "lane").value_or(0);
  if (!seen_.emplace(id, lane, seq_of(deliver)).second) result_.errors.push_back("DELIVER repeated");
  const bool held = protocol::lane_from_code(static_cast<std::uint64_t>(lane))->mode == DeliveryMode::Manual &&
                    case_.session != SessionType::Pull && has_queue(case_.session);
  const bool first = !fault_done_;
  if (case_.fault == Fault::NotRecorded && first) fixture_.fail_commits();
  if (has_queue(case_.session) && !std::exchange(accepted_, true)) send_receipt(R"("status":"accepted")");
  if (case_.fault == Fault::Disconnect && !std::exchange(fault_done_, true)) {
    mark("↯");
    fixture_.disconnect(bob_);
    fixture_.advance(2s);
    seen_.clear();
    bob_ = fixture_.join("Bob", capabilities_of(case_.session) + "," + with_token(token_));
    return;
  }
  if (case_.fault == Fault::Restart && !fault_done_) return restart_daemon();
  if (!held) finish_delivery();
  if (case_.fault == Fault::NotRecorded && !std::exchange(fault_done_, true)) {
    const auto responses = result_.responses.size();
    mark("⊘");
    if (result_.responses.size() != responses) result_.errors.push_back("receipt before its commit");
    fixture_.accept_commits();
    fixture_.advance(1100ms);
    record();
  }
}

void Scenario::send_receipt(const std::string& members) {
  fixture_.send_receipt(bob_, delivery_, members);
  record();
}

void Scenario::finish_delivery() {
  const bool published = case_.session == SessionType::Published;
  if (case_.fault == Fault::Expires) return;
  if (case_.fault == Fault::InDoubt && has_queue(case_.session)) {
    if (std::exchange(fault_done_, true)) return send_receipt(R"("status":"in_doubt")");
    send_receipt(R"("status":"accepted","proof":"written")");
    mark("↯");
    fixture_.disconnect(bob_);
    seen_.clear();
    bob_ = fixture_.join("Bob", capabilities_of(case_.session) + "," + with_token(token_));
    return;
  }
  const bool retryable = case_.fault == Fault::FailsAlways || (case_.fault == Fault::FailsOnce && failures_ == 0);
  if (retryable || case_.fault == Fault::Fails) {
    ++failures_;
    accepted_ = false;
    if (published)
      fixture_.request(bob_, "NACK",
                       format(R"({{"nack_id":"{}","code":"{}"}})", delivery_, retryable ? "BUSY" : "BAD_REQUEST"));
    else
      send_receipt(retryable ? R"("status":"failed","retryable":true,"reason":"no luck")"
                             : R"("status":"failed","reason":"no way")");
    return record();
  }
  switch (case_.session) {
    case SessionType::Published: return fixture_.request(bob_, "ACK", format(R"({{"ack_id":"{}"}})", delivery_));
    case SessionType::Callback: return send_receipt(R"("status":"delivered","via":"callback")");
    case SessionType::Pull: return send_receipt(R"("status":"delivered","proof":"seen","via":"mcp")");
    case SessionType::Pty:
    case SessionType::Native:
      send_receipt(R"("status":"accepted","proof":"written","via":"pty")");
      send_receipt(R"("status":"delivered","proof":"submitted","via":"pty")");
      if (case_.session == SessionType::Native)
        send_receipt(R"("status":"delivered","proof":"seen","evidence":"entry 7")");
  }
}

void Scenario::record() {
  for (const auto& frame : fixture_.received(alice_)) {
    if (auto summary = summary_of(frame); !summary.empty()) result_.responses.push_back(std::move(summary));
  }
  const auto entries = entry().history;
  for (; recorded_ < entries.size(); ++recorded_) result_.trail.push_back(sign_of(entries[recorded_]));
}

}  // namespace relay::broker::testing
