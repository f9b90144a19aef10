#include "plan.h"

#include <charconv>

#include "base/format.h"
#include "base/random.h"

namespace relay::accuracy {
namespace {

constexpr std::uint64_t kImmediateOneIn = 4;
constexpr std::uint64_t kMaxWords = 90;
constexpr std::string_view kPrefix = "message ";
constexpr std::string_view kStart = " start";

}  // namespace

PlannedMessage Plan::message(Number number) const {
  SeededRandom random{seed * 1'000'003 + number};
  PlannedMessage message;
  message.sender = random.below(senders);
  message.agent = random.below(agents);
  message.immediate = random.below(kImmediateOneIn) == 0;
  return message;
}

std::string body_of(Number number) {
  SeededRandom random{number};
  auto text = relay::format("message {} start", number);
  // Mostly short; some do not fit one row of the composer.
  const auto words = random.below(4) == 0 ? random.below(kMaxWords) : random.below(8);
  for (std::uint64_t i = 0; i < words; ++i) text += relay::format(" {}w{}", number, i);
  return text + relay::format(" message {} end", number);
}

std::vector<BodyMatch> find_bodies(std::string_view text) {
  std::vector<BodyMatch> matches;
  for (auto at = text.find(kPrefix); at != std::string_view::npos; at = text.find(kPrefix, at + 1)) {
    const auto rest = text.substr(at + kPrefix.size());
    Number number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc{} || !rest.substr(digits).starts_with(kStart)) continue;
    matches.push_back({number, text.substr(at).starts_with(body_of(number))});
  }
  return matches;
}

}  // namespace relay::accuracy
