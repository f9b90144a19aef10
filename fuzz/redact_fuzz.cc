// Redaction of any bytes is idempotent, and a stored event is one line.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/capture_log.h"
#include "capture/record.h"
#include "capture/redact.h"
#include "check.h"

using namespace relay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto clean = capture::redact(text);
  FUZZ_CHECK(capture::redact(clean) == clean);
  const auto name = capture::file_name_of(text);
  FUZZ_CHECK(name.size() < 255 && name.find('/') == std::string::npos && !name.starts_with('.'));
  if (auto object = parse_json_object(text)) {
    const auto session = string_member(*object, "session").value_or("");
    const auto line = capture::encode_line({{.session = session}, capture::RecordKind::Other, *std::move(object)}, 0);
    FUZZ_CHECK(line.size() <= capture::kMaxLineBytes && line.find('\n') == line.size() - 1);
    FUZZ_CHECK(parse_json_object(line));
  }
  return 0;
}
