#include "host/friendly_name.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace relay::host {
namespace {

constexpr std::array<std::string_view, 32> kAdjectives = {
    "Amber", "Brave", "Calm",   "Clever", "Coral", "Daring", "Early", "Fair", "Gentle",  "Golden", "Happy",
    "Ivory", "Jolly", "Keen",   "Lively", "Lucky", "Merry",  "Noble", "Opal", "Patient", "Quick",  "Quiet",
    "Royal", "Ruby",  "Silver", "Sunny",  "Swift", "Tidy",   "Vivid", "Warm", "Wise",    "Witty"};
constexpr std::array<std::string_view, 32> kAnimals = {
    "Badger", "Beaver", "Crane", "Dolphin", "Eagle", "Falcon",  "Ferret", "Finch", "Fox",   "Gull", "Hare",
    "Heron",  "Ibis",   "Jay",   "Lark",    "Lynx",  "Marten",  "Mole",   "Newt",  "Otter", "Owl",  "Panda",
    "Pike",   "Raven",  "Robin", "Salmon",  "Seal",  "Sparrow", "Stork",  "Swan",  "Wolf",  "Wren"};
constexpr int kMaxTries = 64;

}  // namespace

std::string friendly_name(Random& random, const std::vector<std::string>& taken) {
  std::string name;
  for (int i = 0; i < kMaxTries; ++i) {
    name = std::string{kAdjectives[random.below(kAdjectives.size())]} +
           std::string{kAnimals[random.below(kAnimals.size())]};
    if (std::ranges::find(taken, name) == taken.end()) return name;
  }
  return name + random.hex(3);
}

}  // namespace relay::host
