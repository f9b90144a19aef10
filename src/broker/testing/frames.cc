#include "broker/testing/frames.h"

namespace relay::broker::testing {

std::string string_field(const Frame& object, std::string_view name) {
  return string_member(object, name).value_or("");
}

std::int64_t integer_field(const Frame& object, std::string_view name) {
  return integer_member(object, name).value_or(-1);
}

std::string type_of(const Frame& frame) { return string_field(frame, "type"); }

std::string body(const Frame& frame) { return string_field(payload(frame), "body"); }

std::string code_of(const Frame& frame) { return string_field(payload(frame), "code"); }

const Frame& delivery_block(const Frame& deliver) { return *object_member(deliver, "delivery"); }

std::uint64_t seq_of(const Frame& deliver) {
  return static_cast<std::uint64_t>(*integer_member(delivery_block(deliver), "seq"));
}

Frame event_of(const Frame& frame) { return *object_member(payload(frame), "event"); }

std::string receipt_summary(const Frame& receipt) {
  const auto& fields = payload(receipt);
  std::string summary = string_field(fields, "status");
  if (const auto proof = string_field(fields, "proof"); !proof.empty()) summary += "/" + proof;
  if (const auto code = string_field(fields, "code"); !code.empty()) summary += " " + code;
  return summary + (bool_member(fields, "retryable").value_or(false) ? " retryable" : "");
}

std::string with_token(const std::string& token) { return format(R"("session":{{"resume_token":"{}"}})", token); }

std::string with_mode(std::string_view mode, std::string_view more) {
  return format(R"("payload_meta":{{"delivery":{{"mode":"{}"{}{}}}}})", mode, more.empty() ? "" : ",", more);
}

std::string with_blocking(std::string_view correlation_id, std::string_view more) {
  return format(R"("payload_meta":{{"sync":{{"correlationId":"{}","blocking":true{}{}}}}})", correlation_id,
                more.empty() ? "" : ",", more);
}

}  // namespace relay::broker::testing
