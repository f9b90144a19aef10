#include "protocol/control.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/names.h"
#include "protocol/payload_fields.h"
#include "text/json_writer.h"

namespace relay::protocol {
namespace {

constexpr std::array kActions = {ControlAction::Flush,     ControlAction::Retry,     ControlAction::Cancel,
                                 ControlAction::Redeliver, ControlAction::Pause,     ControlAction::Unpause,
                                 ControlAction::Policy,    ControlAction::ResetLoop, ControlAction::Read};
constexpr std::array kPolicies = {DeliveryPolicyAction::Accept, DeliveryPolicyAction::Hold,
                                  DeliveryPolicyAction::Refuse};
constexpr std::array<std::string_view, 4> kDeadStates = {"dead", "failed", "expired", "in_doubt"};

template <class Values>
auto find_by_name(const Values& values, std::string_view name) -> std::optional<typename Values::value_type> {
  for (const auto value : values)
    if (name_of(value) == name) return value;
  return std::nullopt;
}

class RuleCollector final : public text::ElementVisitor {
 public:
  void element(text::JsonSlice value) override {
    if (!error_) return;
    auto rule = parse_rule(value);
    if (rule && rules_.size() < kMaxPolicyRules)
      rules_.push_back(*std::move(rule));
    else
      error_ = rule ? fail(Errc::BadField, format("a policy has at most {} rules", kMaxPolicyRules))
                    : Result<void>{Failure{std::move(rule).error()}};
  }
  Result<std::vector<DeliveryPolicyRule>> take() {
    if (!error_) return Failure{std::move(error_).error()};
    return std::move(rules_);
  }

 private:
  static Result<DeliveryPolicyRule> parse_rule(const text::JsonSlice& value) {
    if (value.kind != text::JsonKind::Object) return fail(Errc::BadField, "a rule must be an object");
    Field from{"from"}, action{"action"};
    RELAY_TRY(read_fields(value.raw, {&from, &action}));
    DeliveryPolicyRule rule;
    rule.from = RELAY_TRY(read_required_string(from, kMaxNameBytes));
    if (rule.from != kEveryone) RELAY_TRY(check_agent_name(rule.from));
    const auto found = find_by_name(kPolicies, RELAY_TRY(read_required_string(action, kMaxKindBytes)));
    if (!found) return fail(Errc::BadField, "the action of a rule must be accept, hold or refuse");
    rule.action = *found;
    return rule;
  }

  std::vector<DeliveryPolicyRule> rules_;
  Result<void> error_;
};

Result<std::vector<std::string>> read_states(const Field& field) {
  auto states = RELAY_TRY(read_strings(field, kDeadStates.size(), kMaxKindBytes));
  for (const auto& state : states)
    if (std::ranges::find(kDeadStates, state) == kDeadStates.end())
      return fail(Errc::BadField, "the field \"states\" may name dead, failed, expired and in_doubt");
  return states;
}

Result<std::string> read_optional_agent_name(const Field& field) {
  auto name = RELAY_TRY(read_string(field, kMaxNameBytes));
  if (!name.empty()) RELAY_TRY(check_agent_name(name));
  return name;
}

Result<void> check_complete(const ControlRequest& request) {
  switch (request.action) {
    case ControlAction::Flush:
    case ControlAction::Pause:
    case ControlAction::Unpause:
    case ControlAction::Policy:
      if (request.agent.empty()) return fail(Errc::MissingField, "the field \"agent\" is missing; name the agent");
      break;
    case ControlAction::Retry:
    case ControlAction::Cancel:
    case ControlAction::Read:
      if (request.delivery_id.empty())
        return fail(Errc::MissingField, "the field \"deliveryId\" is missing; `trace` shows it");
      break;
    case ControlAction::Redeliver:
      if (request.delivery_id.empty() != request.all)
        return fail(Errc::BadField, "redeliver needs either \"deliveryId\" or \"all\"");
      break;
    case ControlAction::ResetLoop: break;
  }
  return {};
}

}  // namespace

std::string_view name_of(ControlAction action) {
  switch (action) {
    case ControlAction::Flush: return "flush";
    case ControlAction::Retry: return "retry";
    case ControlAction::Cancel: return "cancel";
    case ControlAction::Redeliver: return "redeliver";
    case ControlAction::Pause: return "pause";
    case ControlAction::Unpause: return "unpause";
    case ControlAction::Policy: return "policy";
    case ControlAction::ResetLoop: return "reset-loop";
    case ControlAction::Read: return "read";
  }
  std::unreachable();
}

std::string_view name_of(DeliveryPolicyAction action) {
  switch (action) {
    case DeliveryPolicyAction::Accept: return "accept";
    case DeliveryPolicyAction::Hold: return "hold";
    case DeliveryPolicyAction::Refuse: return "refuse";
  }
  std::unreachable();
}

DeliveryPolicyAction decide(const std::vector<DeliveryPolicyRule>& rules, std::string_view from) {
  for (const auto& rule : rules)
    if (rule.from == kEveryone || rule.from == from) return rule.action;
  return DeliveryPolicyAction::Accept;
}

std::string write_policy(const std::vector<DeliveryPolicyRule>& rules) {
  std::string text = "[";
  for (const auto& rule : rules) {
    text::JsonWriter writer;
    writer.field("from", rule.from).field("action", name_of(rule.action));
    text += text.size() > 1 ? "," : "";
    text += writer.take();
  }
  return text + "]";
}

Result<std::vector<DeliveryPolicyRule>> parse_policy(std::string_view array) {
  RuleCollector collector;
  RELAY_TRY(text::scan_array(array, collector));
  return collector.take();
}

Result<ControlRequest> parse_control(std::string_view payload) {
  Field action{"action"}, agent{"agent"}, mode{"mode"}, delivery{"deliveryId"}, reason{"reason"}, all{"all"},
      states{"states"}, rules{"rules"}, from{"from"}, to{"to"};
  RELAY_TRY(read_fields(payload, {&action, &agent, &mode, &delivery, &reason, &all, &states, &rules, &from, &to}));
  const auto found = find_by_name(kActions, RELAY_TRY(read_required_string(action, kMaxKindBytes)));
  if (!found)
    return fail(Errc::BadField,
                "the field \"action\" must be flush, retry, cancel, redeliver, pause, unpause, policy or reset-loop");
  ControlRequest request;
  request.action = *found;
  request.agent = RELAY_TRY(read_optional_agent_name(agent));
  if (const auto name = RELAY_TRY(read_string(mode, kMaxKindBytes)); !name.empty()) {
    request.mode = parse_delivery_mode(name);
    if (!request.mode)
      return fail(Errc::BadField,
                  "the field \"mode\" must be immediate, next-message, next-tool-call, on-idle or manual");
  }
  request.delivery_id = RELAY_TRY(read_string(delivery, kMaxIdBytes));
  request.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  request.all = RELAY_TRY(read_bool(all, false));
  request.states = RELAY_TRY(read_states(states));
  if (rules.present()) {
    if (rules.value.kind != text::JsonKind::Array) return fail(Errc::BadField, "the field \"rules\" must be an array");
    request.rules = RELAY_TRY(parse_policy(rules.value.raw));
  }
  request.from = RELAY_TRY(read_optional_agent_name(from));
  request.to = RELAY_TRY(read_optional_agent_name(to));
  RELAY_TRY(check_complete(request));
  return request;
}

Result<DeadLetterRequest> parse_dead(std::string_view payload) {
  Field agent{"agent"}, from{"from"}, states{"states"}, limit{"limit"}, before{"beforeKey"};
  RELAY_TRY(read_fields(payload, {&agent, &from, &states, &limit, &before}));
  DeadLetterRequest request;
  request.agent = RELAY_TRY(read_optional_agent_name(agent));
  request.from = RELAY_TRY(read_optional_agent_name(from));
  request.states = RELAY_TRY(read_states(states));
  request.limit = std::min(static_cast<std::size_t>(RELAY_TRY(read_count(limit))), kMaxQueryRows);
  request.before_key = RELAY_TRY(read_count(before));
  return request;
}

Result<std::string> parse_channels(std::string_view payload) {
  Field channel{"channel"};
  RELAY_TRY(read_fields(payload, {&channel}));
  auto name = RELAY_TRY(read_string(channel, kMaxTopicBytes));
  if (!name.empty()) RELAY_TRY(check_channel_name(name));
  return name;
}

Result<PauseCommand> parse_pause(std::string_view payload) {
  Field paused{"paused"}, reason{"reason"};
  RELAY_TRY(read_fields(payload, {&paused, &reason}));
  PauseCommand command;
  command.paused = RELAY_TRY(read_bool(paused, false));
  command.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  return command;
}

std::string write_pause(const PauseCommand& command) {
  text::JsonWriter writer;
  writer.field("paused", command.paused).optional("reason", command.reason);
  return writer.take();
}

std::string describe_pause(std::string_view reason) {
  return reason.empty() ? "paused by the user" : format("paused by the user: {}", reason);
}

Result<CancelCommand> parse_cancel(std::string_view payload) {
  Field delivery{"deliveryId"}, reason{"reason"};
  RELAY_TRY(read_fields(payload, {&delivery, &reason}));
  CancelCommand command;
  command.delivery_id = RELAY_TRY(read_required_string(delivery, kMaxIdBytes));
  command.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  return command;
}

std::string write_cancel(const CancelCommand& command) {
  text::JsonWriter writer;
  writer.field("deliveryId", command.delivery_id).optional("reason", command.reason);
  return writer.take();
}

}  // namespace relay::protocol
