/// The scanner accepts and refuses the same texts as simdjson's DOM, and its slices are valid JSON.
#include <cstdint>
#include <string>

#include "check.h"
#include "dom_oracle.h"
#include "text/json_errors.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace {

using namespace relay::text;

/// Wrapped as the only array element, so that only the grammar is tested and keys are not.
class Collect final : public ElementVisitor {
 public:
  void element(JsonSlice value) override {
    ++count;
    raw = value.raw;
    kind = value.kind;
  }
  std::size_t count = 0;
  std::string_view raw;
  JsonKind kind{};
};

class Members final : public MemberVisitor {
 public:
  void member(std::string_view key, JsonSlice value) override {
    FUZZ_CHECK(!value.raw.empty());
    FUZZ_CHECK(key.find('\\') == std::string_view::npos);
    if (value.kind == JsonKind::String) {
      const std::string text = decode_string(value.raw);
      FUZZ_CHECK(text.size() + 2 <= value.raw.size());
      // A decoded value survives writing and decoding.
      std::string again;
      append_json_string(again, text);
      if (is_utf8(value.raw)) FUZZ_CHECK(decode_string(again) == text);
    }
    if (value.kind == JsonKind::Number) {
      const auto integer = decode_integer(value.raw);
      const auto number = decode_number(value.raw);
      if (integer && number && *integer < (1LL << 53) && *integer > -(1LL << 53)) {
        FUZZ_CHECK(static_cast<double>(*integer) == *number);
      }
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  Members members;
  (void)scan_object(text, members);

  const std::string wrapped = '[' + std::string{text} + ']';
  Collect collect;
  const auto result = scan_array(wrapped, collect);
  const bool accepted = result.has_value() && is_utf8(text);
  const auto dom = relay::fuzz::parse_with_dom(wrapped);
  if (dom.undecided) return 0;
  if (dom.root == relay::fuzz::RootKind::NotJson) {
    FUZZ_CHECK(!accepted);
  } else if (dom.depth > kMaxJsonDepth) {
    FUZZ_CHECK(!result && is(result.error(), JsonErrc::TooDeep));
  } else {
    FUZZ_CHECK(accepted);
  }
  return 0;
}
