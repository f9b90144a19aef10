// Any request on a host socket, host record or record of an exit: a value or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check.h"
#include "host/control/host_protocol.h"
#include "host/control/host_record.h"
#include "protocol/ended_session.h"

using namespace relay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  (void)host::terminal_bytes(text);
  if (const auto request = host::parse_request(text); !request) FUZZ_CHECK(!request.error().message().empty());
  if (const auto record = host::parse_record(text)) {
    text::JsonWriter json;
    host::write_record(json, *record);
    const auto again = host::parse_record(json.take());
    FUZZ_CHECK(again && again->name == record->name && again->socket == record->socket);
  }
  if (const auto ended = protocol::parse_ended_session(text)) {
    const auto again = protocol::parse_ended_session(protocol::write_ended_session(*ended));
    FUZZ_CHECK(again && again->agent == ended->agent && again->session == ended->session &&
               again->events.size() <= ended->events.size());
  } else {
    FUZZ_CHECK(!ended.error().message().empty());
  }
  return 0;
}
