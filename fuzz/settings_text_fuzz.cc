/// Any settings file of a user: hooks are installed and removed without a trace, or there is one error.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "check.h"
#include "hooks/diff.h"
#include "hooks/hook_specs.h"
#include "hooks/settings_text.h"

namespace {

using relay::hooks::AgentCli;

/// Empty members are not restored, so only texts without them must give the same bytes.
bool nothing_empty(const relay::json::object& settings, const relay::json::object& added) {
  if (settings.empty()) return false;
  const auto* hooks = relay::object_member(settings, "hooks");
  if (hooks == nullptr) return true;
  return !hooks->empty() && std::ranges::none_of(*hooks, [&](const auto& event) {
    return added.contains(event.key()) && event.value().is_array() && event.value().get_array().empty();
  });
}

void check(std::string_view text, AgentCli agent) {
  const auto hooks = relay::hooks::hooks_for(agent, "/opt/agent-relay");
  const auto before = relay::hooks::without_hooks(text, agent);
  const auto with = relay::hooks::with_hooks(text, *hooks);
  if (!with) {
    FUZZ_CHECK(!with.error().message().empty());
    return;
  }
  FUZZ_CHECK(before);
  FUZZ_CHECK(relay::parse_json_object(*with));
  const auto without = relay::hooks::without_hooks(*with, agent);
  FUZZ_CHECK(without);
  FUZZ_CHECK(relay::hooks::without_hooks(*without, agent) == *without);
  (void)relay::hooks::unified_diff(text, *with, "settings.json");
  const auto settings = relay::parse_json_object(text);
  if (!settings || *before != text) return;  // blank, or it already had our hooks
  FUZZ_CHECK(relay::parse_json_object(*without));
  if (nothing_empty(*settings, *hooks)) FUZZ_CHECK(*without == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(bytes) + 1, size - 1};
  check(text, static_cast<AgentCli>(bytes[0] % 3));
  return 0;
}
