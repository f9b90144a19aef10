#include "protocol/bye.h"

#include <array>
#include <utility>

#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/payload_fields.h"
#include "text/json_writer.h"

namespace relay::protocol {
namespace {

constexpr std::array<std::pair<EndReason, std::string_view>, 3> kEndReasons{
    {{EndReason::Completed, "completed"}, {EndReason::Crashed, "crashed"}, {EndReason::Released, "released"}}};

}  // namespace

Result<Bye> parse_bye(std::string_view payload) {
  Bye bye;
  if (payload.empty()) return bye;
  Field end{"end"}, by{"by"}, reason{"reason"}, ended_at{"endedAt"};
  RELAY_TRY(read_fields(payload, {&end, &by, &reason, &ended_at}));
  const auto name = RELAY_TRY(read_string(end, kMaxNameBytes));
  bool is_valid = name.empty();
  for (const auto& [value, end_name] : kEndReasons) {
    if (end_name != name) continue;
    bye.end = value;
    is_valid = true;
  }
  if (!is_valid) return fail(Errc::BadField, "end must be completed, crashed or released");
  bye.by = RELAY_TRY(read_string(by, kMaxNameBytes));
  bye.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  bye.ended_at = RELAY_TRY(read_time(ended_at));
  return bye;
}

std::string write_bye(const Bye& bye) {
  text::JsonWriter payload;
  for (const auto& [value, end_name] : kEndReasons)
    if (value == bye.end) payload.field("end", end_name);
  payload.optional("by", bye.by).optional("reason", bye.reason);
  if (bye.ended_at != 0) payload.field("endedAt", bye.ended_at);
  return payload.take();
}

}  // namespace relay::protocol
