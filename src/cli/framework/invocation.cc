#include "cli/framework/invocation.h"

#include <charconv>

#include "base/format.h"

namespace relay::cli {
namespace {

constexpr Millis kMaxDuration = std::chrono::hours{24} * 3650;

struct Unit {
  std::string_view name;
  Millis length;
};
constexpr Unit kUnits[] = {{"ms", Millis{1}},
                           {"s", std::chrono::seconds{1}},
                           {"m", std::chrono::minutes{1}},
                           {"h", std::chrono::hours{1}},
                           {"d", std::chrono::hours{24}},
                           {"", std::chrono::seconds{1}}};

}  // namespace

std::optional<std::string> Invocation::value(std::string_view option) const {
  const auto found = options_.find(option);
  if (found == options_.end()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Invocation::values(std::string_view option) const {
  const auto found = options_.find(option);
  return found == options_.end() ? std::vector<std::string>{} : found->second;
}

std::string Invocation::argument(std::size_t index) const {
  return index < arguments_.size() ? arguments_[index] : std::string{};
}

std::string Invocation::rest(std::size_t index) const {
  std::string joined;
  for (std::size_t i = index; i < arguments_.size(); ++i) joined += (i == index ? "" : " ") + arguments_[i];
  return joined;
}

Result<std::int64_t> Invocation::number(std::string_view option, std::int64_t min, std::int64_t max,
                                        std::int64_t fallback) const {
  const auto text = value(option);
  if (!text) return fallback;
  std::int64_t number = 0;
  const auto* const end = text->data() + text->size();
  const auto [stopped, failed] = std::from_chars(text->data(), end, number);
  if (failed != std::errc{} || stopped != end || number < min || number > max)
    return fail(relay::format("{} cannot be \"{}\": give a whole number from {} to {}", option, *text, min, max));
  return number;
}

Result<Millis> Invocation::duration(std::string_view option, Millis fallback) const {
  const auto text = value(option);
  if (!text) return fallback;
  auto parsed = parse_duration(*text);
  if (!parsed) return fail(relay::format("{} cannot be \"{}\": {}", option, *text, parsed.error().message()));
  return parsed;
}

Result<Millis> parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  const std::string_view unit{stopped, static_cast<std::size_t>(end - stopped)};
  if (failed == std::errc{} && number >= 0)
    for (const auto& each : kUnits)
      if (each.name == unit && number <= kMaxDuration / each.length) return each.length * number;
  return fail("give a time such as 30s, 15m, 2h or 7d");
}

}  // namespace relay::cli
