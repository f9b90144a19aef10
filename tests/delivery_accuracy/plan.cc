#include "plan.h"

#include <charconv>

#include "base/format.h"
#include "base/random.h"

namespace relay::verdicts {
namespace {

constexpr std::uint64_t kOneInImmediate = 4;
constexpr std::uint64_t kMaxWords = 90;
constexpr std::string_view kFirst = "parcel ";
constexpr std::string_view kBegins = " begins";

}  // namespace

PlannedMessage Plan::errand(Number number) const {
  SeededRandom random{seed * 1'000'003 + number};
  PlannedMessage errand;
  errand.sender = random.below(senders);
  errand.agent = random.below(agents);
  errand.immediate = random.below(kOneInImmediate) == 0;
  return errand;
}

std::string body_of(Number number) {
  SeededRandom random{number};
  auto text = relay::format("parcel {} begins", number);
  // Mostly short ones; some that no composer shows in one row.
  const auto words = random.below(4) == 0 ? random.below(kMaxWords) : random.below(8);
  for (std::uint64_t i = 0; i < words; ++i) text += relay::format(" {}w{}", number, i);
  return text + relay::format(" parcel {} ends", number);
}

std::vector<Found> parcels_in(std::string_view text) {
  std::vector<Found> all;
  for (auto at = text.find(kFirst); at != std::string_view::npos; at = text.find(kFirst, at + 1)) {
    const auto rest = text.substr(at + kFirst.size());
    Number number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc{} || !rest.substr(digits).starts_with(kBegins)) continue;
    all.push_back({number, text.substr(at).starts_with(body_of(number))});
  }
  return all;
}

}  // namespace relay::verdicts
