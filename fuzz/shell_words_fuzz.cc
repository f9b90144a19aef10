/// Any command of an agent: a simple one has no shell operator outside quotes, its text is parsed back unchanged, and
/// an approved one is simple.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check.h"
#include "permissions/policy_file.h"

namespace {

using namespace relay::permissions;

/// An independent check: quotes as sh reads them, everything else forbidden.
bool has_operator_outside_quotes(std::string_view text) {
  char quote = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) return true;
    if (quote != 0) {
      if (quote == '"' && (c == '$' || c == '`' || c == '\\')) return true;
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (std::string_view{";&|<>(){}$`\\"}.contains(c)) {
      return true;
    }
  }
  return quote != 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Policy kReadOnly{{}, kReadOnlyPreset};
  static const auto kEverything =
      parse_policy("[[permissions]]\ncommand = '(?s).*'\naction = 'approve'\n").value();  // the most permissive rule
  const std::string text{reinterpret_cast<const char*>(bytes), size};
  const auto simple = read_simple_command(text);
  if (simple) {
    FUZZ_CHECK(!has_operator_outside_quotes(text));
    FUZZ_CHECK(!has_operator_outside_quotes(simple->text));
    const auto again = read_simple_command(simple->text);
    FUZZ_CHECK(again || simple->text.size() > kMaxSimpleCommandBytes);
    if (again) FUZZ_CHECK(again->words == simple->words && again->text == simple->text);
  } else {
    FUZZ_CHECK(!simple.error().message().empty());
  }
  const PermissionRequest ask{.tool = "Bash", .command = text, .description = text, .directory = "/w"};
  FUZZ_CHECK(simple.has_value() || kEverything.decide(ask).action != Action::Approve);
  const auto decision = kReadOnly.decide(ask);
  FUZZ_CHECK(simple.has_value() || decision.action == Action::Ask);
  FUZZ_CHECK(!decision.rule.empty());
  (void)kReadOnly.decide({.tool = text, .file_path = text, .directory = text});
  return 0;
}
