#include "store/record_json.h"

#include "base/format.h"
#include "base/json.h"
#include "store/message_store.h"

namespace relay::store {
namespace {

json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const auto& text : texts) array.emplace_back(json::string_view{text.data(), text.size()});
  return array;
}

json::string_view view(const std::string& text) { return {text.data(), text.size()}; }

/// A value that is an array.
Result<json::value> parse_array(const std::string& text) {
  auto value = parse_json(text);
  if (!value || !value->is_array())
    return fail(Errc::Damaged, "a stored list is not readable; the message store is damaged");
  return value;
}

std::vector<std::string> strings_of(const json::array& array) {
  std::vector<std::string> texts;
  for (const auto& value : array) {
    if (const auto* text = value.if_string()) texts.emplace_back(text->data(), text->size());
  }
  return texts;
}

}  // namespace

std::string to_json(const protocol::Capabilities& capabilities) {
  json::object object;
  object["ack"] = capabilities.ack;
  object["resume"] = capabilities.resume;
  object["supports_topics"] = capabilities.supports_topics;
  object["send_ack"] = capabilities.send_ack;
  object["receipts"] = capabilities.receipts;
  object["max_inflight"] = capabilities.max_inflight;
  object["outbox"] = view(capabilities.outbox);
  object["receipt_steps"] = capabilities.receipt_steps;
  if (capabilities.modes) {
    json::array modes;
    for (const auto mode : protocol::kDeliveryModes) {
      if (!capabilities.modes->has(mode)) continue;
      const auto name = name_of(mode);
      modes.emplace_back(json::string_view{name.data(), name.size()});
    }
    object["modes"] = std::move(modes);
  }
  object["queue"] = capabilities.queue;
  object["pause"] = capabilities.pause;
  if (!capabilities.contract.empty()) object["contract"] = view(capabilities.contract);
  return json::serialize(object);
}

std::string to_json(const std::vector<std::string>& texts) { return json::serialize(array_of(texts)); }

std::string to_json(const std::vector<AgentName>& names) {
  json::array array;
  for (const auto& name : names) array.emplace_back(view(name.value()));
  return json::serialize(array);
}

std::string to_json(const std::vector<std::uint64_t>& numbers) {
  json::array array;
  for (const auto number : numbers) array.emplace_back(number);
  return json::serialize(array);
}

std::string to_json(const std::vector<records::ShadowBinding>& shadows) {
  json::array array;
  for (const auto& shadow : shadows) {
    json::object object;
    object["primary"] = view(shadow.primary.value());
    object["speak_on"] = array_of(shadow.speak_on);
    object["incoming"] = shadow.incoming;
    object["outgoing"] = shadow.outgoing;
    array.emplace_back(std::move(object));
  }
  return json::serialize(array);
}

std::string to_json(const std::vector<records::Vote>& votes) {
  json::array array;
  for (const auto& vote : votes) {
    json::object object;
    object["voter"] = view(vote.voter.value());
    object["choice"] = view(vote.choice);
    object["reason"] = view(vote.reason);
    array.emplace_back(std::move(object));
  }
  return json::serialize(array);
}

Result<protocol::Capabilities> capabilities_from_json(const std::string& text) {
  const auto object = parse_json_object(text);
  if (!object) return fail(Errc::Damaged, "a stored session is not readable; the message store is damaged");
  protocol::Capabilities capabilities;
  capabilities.ack = bool_member(*object, "ack").value_or(true);
  capabilities.resume = bool_member(*object, "resume").value_or(false);
  capabilities.supports_topics = bool_member(*object, "supports_topics").value_or(true);
  capabilities.send_ack = bool_member(*object, "send_ack").value_or(false);
  capabilities.receipts = bool_member(*object, "receipts").value_or(false);
  capabilities.outbox = string_member(*object, "outbox").value_or("");
  capabilities.receipt_steps = bool_member(*object, "receipt_steps").value_or(false);
  if (const auto* modes = array_member(*object, "modes")) {
    capabilities.modes.emplace();
    for (const auto& name : strings_of(*modes)) {
      if (const auto mode = protocol::parse_delivery_mode(name)) capabilities.modes->add(*mode);
    }
  }
  capabilities.queue = bool_member(*object, "queue").value_or(false);
  capabilities.pause = bool_member(*object, "pause").value_or(false);
  capabilities.contract = string_member(*object, "contract").value_or("");
  const auto inflight = integer_member(*object, "max_inflight").value_or(protocol::kDefaultInflight);
  if (inflight > 0 && inflight <= protocol::kMaxInflight)
    capabilities.max_inflight = static_cast<std::uint32_t>(inflight);
  return capabilities;
}

Result<std::vector<std::string>> texts_from_json(const std::string& text) {
  const auto list = RELAY_TRY(parse_array(text));
  return strings_of(list.get_array());
}

Result<std::vector<AgentName>> names_from_json(const std::string& text) {
  std::vector<AgentName> names;
  for (auto& name : RELAY_TRY(texts_from_json(text))) names.emplace_back(std::move(name));
  return names;
}

Result<std::vector<std::uint64_t>> numbers_from_json(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  const auto list = RELAY_TRY(parse_array(text));
  for (const auto& value : list.get_array()) {
    if (value.is_uint64()) numbers.push_back(value.get_uint64());
    if (value.is_int64() && value.get_int64() >= 0) numbers.push_back(static_cast<std::uint64_t>(value.get_int64()));
  }
  return numbers;
}

Result<std::vector<records::ShadowBinding>> shadows_from_json(const std::string& text) {
  std::vector<records::ShadowBinding> shadows;
  const auto list = RELAY_TRY(parse_array(text));
  for (const auto& value : list.get_array()) {
    const auto* object = value.if_object();
    if (object == nullptr) continue;
    auto& shadow = shadows.emplace_back();
    shadow.primary = AgentName{string_member(*object, "primary").value_or("")};
    if (const auto* speak_on = array_member(*object, "speak_on")) shadow.speak_on = strings_of(*speak_on);
    shadow.incoming = bool_member(*object, "incoming").value_or(true);
    shadow.outgoing = bool_member(*object, "outgoing").value_or(true);
  }
  return shadows;
}

Result<std::vector<records::Vote>> votes_from_json(const std::string& text) {
  std::vector<records::Vote> votes;
  const auto list = RELAY_TRY(parse_array(text));
  for (const auto& value : list.get_array()) {
    if (const auto* object = value.if_object()) {
      votes.push_back({AgentName{string_member(*object, "voter").value_or("")},
                       string_member(*object, "choice").value_or(""), string_member(*object, "reason").value_or("")});
    }
  }
  return votes;
}

Result<std::vector<protocol::DeliveryPolicyRule>> policy_from_json(const std::string& text) {
  auto rules = protocol::parse_policy(text);
  if (!rules) return fail(Errc::Damaged, "a stored policy is not readable; the message store is damaged");
  return rules;
}

std::string idempotency_key_in(const std::string& payload_meta) {
  if (!payload_meta.contains("idempotencyKey")) return {};
  const auto meta = protocol::parse_send_meta(payload_meta);
  return meta && meta->delivery ? meta->delivery->idempotency_key : std::string{};
}

}  // namespace relay::store
