/// Any envelope: no crash. An accepted one is an object to simdjson too, and survives writing and reading.
#include <cstdint>
#include <string>

#include "check.h"
#include "dom_oracle.h"
#include "protocol/envelope.h"
#include "protocol/limits.h"
#include "text/json_errors.h"

namespace {

using namespace relay::protocol;
using namespace relay::text;

/// Errors of the JSON syntax, not of the content.
bool is_about_json(const relay::Error& error) {
  for (const JsonErrc code : {JsonErrc::BadUtf8, JsonErrc::BadJson, JsonErrc::NotAnObject, JsonErrc::TooDeep}) {
    if (is(error, code)) return true;
  }
  return false;
}

/// Stricter than JSON on purpose: parsers disagree about such keys.
bool is_about_keys(const relay::Error& error) {
  return error.message().find("appears twice") != std::string::npos ||
         error.message().find("contains an escape") != std::string::npos;
}

void check_round_trip(const Envelope& envelope) {
  const std::string text = write_envelope({.type = envelope.type,
                                           .id = envelope.id,
                                           .ts = envelope.ts,
                                           .from = envelope.from,
                                           .to = envelope.to,
                                           .topic = envelope.topic,
                                           .payload = envelope.payload,
                                           .payload_meta = envelope.payload_meta,
                                           .delivery = envelope.delivery});
  const auto again = parse_envelope(text);
  FUZZ_CHECK(again.has_value());
  FUZZ_CHECK(again->type == envelope.type && again->id == envelope.id && again->ts == envelope.ts);
  FUZZ_CHECK(again->from == envelope.from && again->to == envelope.to && again->topic == envelope.topic);
  FUZZ_CHECK(again->payload == envelope.payload && again->payload_meta == envelope.payload_meta);
  FUZZ_CHECK(again->delivery == envelope.delivery);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view frame{reinterpret_cast<const char*>(data), size};
  const auto envelope = parse_envelope(frame);
  if (envelope)
    check_round_trip(*envelope);
  else
    FUZZ_CHECK(!envelope.error().message().empty());

  const auto dom = relay::fuzz::parse_with_dom(frame);
  if (dom.undecided) return 0;
  const bool is_json_object = dom.root == relay::fuzz::RootKind::Object && dom.depth <= kMaxJsonDepth;
  if (envelope)
    FUZZ_CHECK(is_json_object);
  else if (is_json_object)
    FUZZ_CHECK(!is_about_json(envelope.error()) || is_about_keys(envelope.error()));
  else
    FUZZ_CHECK(is_about_json(envelope.error()));
  return 0;
}
