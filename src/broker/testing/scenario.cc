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

std::string capabilities_of(Kind kind) {
  constexpr std::string_view kOurs = R"("capabilities":{{"ack":true,"send_ack":true,"delivery":{},)"
                                     R"("lifecycle":{{"release":true,"pause":true}}}})";
  switch (kind) {
    case Kind::Pty: return format(kOurs, R"({"modes":["immediate","on-idle","manual"],"queue":true})");
    case Kind::Native:
      return format(kOurs,
                    R"({"modes":["immediate","next-message","next-tool-call","on-idle","manual"],"queue":true})");
    case Kind::Callback:
      return format(kOurs, R"({"modes":["immediate","next-message","next-tool-call","on-idle","manual"]})");
    case Kind::Pull:
      return format(kOurs,
                    R"({"modes":["immediate","next-message","next-tool-call","on-idle","manual"],"queue":true})");
    case Kind::Published: return R"("capabilities":{"ack":true,"resume":true,"max_inflight":64})";
  }
  std::unreachable();
}

std::string word_for(const records::HistoryEntry& line) {
  switch (line.state) {
    case DeliveryState::Queued: return "q";
    case DeliveryState::Accepted: return line.proof == Proof::Written ? "w" : "a";
    case DeliveryState::Delivered: return line.proof == Proof::Seen ? "v" : line.proof == Proof::Submitted ? "s" : "c";
    case DeliveryState::Deferred:
      if (line.reason.starts_with("try ")) return "t";
      if (line.reason.starts_with("the policy")) return "h";
      return line.reason.contains("cannot do") ? "du" : "d";
    case DeliveryState::Failed: return "F";
    case DeliveryState::Expired: return "E";
    case DeliveryState::Cancelled: return "C";
    case DeliveryState::InDoubt: return "?";
    case DeliveryState::Dead: return "†";
  }
  std::unreachable();
}

std::string word_for(const Frame& frame) {
  const auto& what = payload(frame);
  const std::string type = text(frame, "type");
  if (type == "ACK") return integer_member(what, "offlineSince") ? "ACK " + text(what, "state") : "ACK";
  if (type == "NACK") return "NACK " + text(what, "code");
  return type == "RECEIPT" ? receipt_word(frame) : "";
}

}  // namespace

Outcome Scenario::run() {
  set_up();
  send();
  if (case_.fault == Fault::Refused) return std::move(outcome_);
  listen();
  if (case_.fault == Fault::Restart && !struck_) strike_with_restart();
  if (case_.fault == Fault::Expires) {
    mark("[time]");
    world_.pass(kTimeToLive + 100ms);
    note();
    const bool in_hand = !delivery_.empty() && case_.kind != Kind::Published;
    const bool taken_back = here_ && !world_.received(bob_, "CANCEL").empty();
    if (taken_back != in_hand) outcome_.errors.push_back(in_hand ? "not taken back" : "taken back from nobody");
  }
  if (!ended() || case_.fault == Fault::Expires) {
    if (!here_) come_back();
    if (case_.standing == Standing::Paused) {
      if (!ended()) mark("[unpause]");
      world_.control(person_, R"("action":"unpause","agent":"Bob")");
    }
    listen();
  }
  for (std::size_t round = 0; round < kMaxRounds && !ended() && release_once(); ++round) listen();
  note();
  if (noted_ > 0 && !records::is_final(entry().delivery.state)) outcome_.trail.emplace_back("…");
  return std::move(outcome_);
}

void Scenario::set_up() {
  alice_ = world_.join("Alice", R"("capabilities":{"ack":true,"send_ack":true,"receipt_steps":true})");
  person_ = world_.join_user();
  bob_ = world_.join("Bob", capabilities_of(case_.kind));
  token_ = token_of(world_, bob_);
  working_ = case_.standing == Standing::Working;
  report_standing();
  if (case_.standing == Standing::Paused) world_.control(person_, R"("action":"pause","agent":"Bob")");
  if (case_.standing == Standing::Offline) {
    world_.leave(bob_);
    here_ = false;
  }
  if (case_.fault == Fault::Held || case_.fault == Fault::Refused)
    world_.control(person_, format(R"("action":"policy","agent":"Bob","rules":[{{"from":"Alice","action":"{}"}}])",
                                   case_.fault == Fault::Held ? "hold" : "refuse"));
  world_.received(alice_);
}

void Scenario::send() {
  const std::string meta =
      format(R"("payload_meta":{{"delivery":{{"mode":"{}"}}{}}})", name_of(case_.mode),
             case_.fault == Fault::Expires ? format(R"(,"ttl_ms":{})", Millis{kTimeToLive}.count()) : "");
  if (case_.fault == Fault::NotStored) {
    world_.fail_commits(true);
    world_.send(alice_, "message-1", "Bob", "hello", meta);
    world_.fail_commits(false);
    mark("⊘");
    world_.pass(1100ms);
  }
  world_.send(alice_, "message-1", "Bob", "hello", meta);
  note();
}

/// Published clients tell nothing of what they do.
void Scenario::report_standing() {
  if (case_.kind == Kind::Published) return;
  world_.report_state(bob_, working_ ? "active" : case_.standing == Standing::Blocked ? "blocked" : "idle");
}

void Scenario::come_back() {
  if (!ended()) mark("[back]");
  bob_ = world_.join("Bob", capabilities_of(case_.kind) + "," + with_token(token_));
  here_ = true;
  report_standing();
}

void Scenario::strike_with_restart() {
  struck_ = true;
  mark("⟲");
  world_.restart();
  seen_.clear();
  alice_ = world_.join("Alice", R"("capabilities":{"ack":true,"send_ack":true,"receipt_steps":true})");
  person_ = world_.join_user();
  if (!here_) return;
  bob_ = world_.join("Bob", capabilities_of(case_.kind) + "," + with_token(token_));
  report_standing();
}

/// What has to happen before it goes on; false when nothing of that kind is missing.
bool Scenario::release_once() {
  const auto delivery = entry().delivery;
  const bool by_broker = case_.kind == Kind::Callback;
  if (delivery.hold == Hold::Time) {
    mark("[later]");
    world_.pass(Millis{delivery.available_at - world_.now().wall});
  } else if (delivery.hold == Hold::Policy || delivery.lane.mode == DeliveryMode::Manual) {
    mark("[flush]");
    world_.control(person_, R"("action":"flush","agent":"Bob")");
  } else if (by_broker && delivery.lane.mode == DeliveryMode::NextMessage) {
    mark("[boundary]");
    world_.report_state(bob_, "active", R"("boundary":"message")");
  } else if (by_broker && delivery.lane.mode == DeliveryMode::NextToolCall) {
    mark("[boundary]");
    world_.report_state(bob_, "active", R"("boundary":"tool-call")");
  } else if (by_broker && std::exchange(working_, false)) {
    mark("[idle]");
    report_standing();
  } else {
    return false;
  }
  return true;
}

void Scenario::listen() {
  note();
  if (!here_) return;
  for (auto frames = world_.received(bob_); !frames.empty(); frames = world_.received(bob_)) {
    const ConnectionId heard_on = bob_;
    for (const auto& frame : frames) {
      if (text(frame, "type") == "DELIVER" && bob_ == heard_on) handed(frame);
    }
  }
  note();
}

void Scenario::handed(const Frame& deliver) {
  mark("⇒");
  const std::string id = text(deliver, "id");
  if (!delivery_.empty() && id != delivery_) outcome_.errors.push_back(format("{} became {}", delivery_, id));
  if (ended()) outcome_.errors.push_back("given after its end");
  delivery_ = id;
  const auto lane = integer_member(*object_member(deliver, "delivery"), "lane").value_or(0);
  if (!seen_.emplace(id, lane, seq_of(deliver)).second) outcome_.errors.push_back("given twice without need");
  const bool kept = protocol::lane_from_code(static_cast<std::uint64_t>(lane))->mode == DeliveryMode::Manual &&
                    case_.kind != Kind::Pull && has_queue(case_.kind);
  const bool first = !struck_;
  if (case_.fault == Fault::NotRecorded && first) world_.fail_commits(true);
  if (has_queue(case_.kind) && !std::exchange(accepted_, true)) answer_with(R"("status":"accepted")");
  if (case_.fault == Fault::Away && !std::exchange(struck_, true)) {
    mark("↯");
    world_.leave(bob_);
    world_.pass(2s);
    seen_.clear();
    bob_ = world_.join("Bob", capabilities_of(case_.kind) + "," + with_token(token_));
    return;
  }
  if (case_.fault == Fault::Restart && !struck_) return strike_with_restart();
  if (!kept) play();
  if (case_.fault == Fault::NotRecorded && !std::exchange(struck_, true)) {
    const auto told = outcome_.told.size();
    mark("⊘");
    if (outcome_.told.size() != told) outcome_.errors.push_back("told before it was stored");
    world_.fail_commits(false);
    world_.pass(1100ms);
    note();
  }
}

void Scenario::answer_with(const std::string& members) {
  world_.receipt(bob_, delivery_, members);
  note();
}

/// All that a session of this kind does with what it was given.
void Scenario::play() {
  const bool published = case_.kind == Kind::Published;
  if (case_.fault == Fault::Expires) return;
  if (case_.fault == Fault::InDoubt && has_queue(case_.kind)) {
    if (std::exchange(struck_, true)) return answer_with(R"("status":"in_doubt")");
    answer_with(R"("status":"accepted","proof":"written")");
    mark("↯");
    world_.leave(bob_);
    seen_.clear();
    bob_ = world_.join("Bob", capabilities_of(case_.kind) + "," + with_token(token_));
    return;
  }
  const bool again = case_.fault == Fault::FailsAlways || (case_.fault == Fault::FailsOnce && failures_ == 0);
  if (again || case_.fault == Fault::Fails) {
    ++failures_;
    accepted_ = false;
    if (published)
      world_.request(bob_, "NACK",
                     format(R"({{"nack_id":"{}","code":"{}"}})", delivery_, again ? "BUSY" : "BAD_REQUEST"));
    else
      answer_with(again ? R"("status":"failed","retryable":true,"reason":"no luck")"
                        : R"("status":"failed","reason":"no way")");
    return note();
  }
  switch (case_.kind) {
    case Kind::Published: return world_.request(bob_, "ACK", format(R"({{"ack_id":"{}"}})", delivery_));
    case Kind::Callback: return answer_with(R"("status":"delivered","via":"callback")");
    case Kind::Pull: return answer_with(R"("status":"delivered","proof":"seen","via":"mcp")");
    case Kind::Pty:
    case Kind::Native:
      answer_with(R"("status":"accepted","proof":"written","via":"pty")");
      answer_with(R"("status":"delivered","proof":"submitted","via":"pty")");
      if (case_.kind == Kind::Native) answer_with(R"("status":"delivered","proof":"seen","evidence":"record 7")");
  }
}

void Scenario::note() {
  for (const auto& frame : world_.received(alice_)) {
    if (auto word = word_for(frame); !word.empty()) outcome_.told.push_back(std::move(word));
  }
  const auto lines = entry().history;
  for (; noted_ < lines.size(); ++noted_) outcome_.trail.push_back(word_for(lines[noted_]));
}

}  // namespace relay::broker::testing
