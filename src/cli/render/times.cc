#include "cli/render/times.h"

#include <array>
#include <ctime>

#include "base/format.h"

namespace relay::cli {
namespace {

constexpr WallMs kMsPerSecond = 1000;

std::tm local(WallMs when) {
  const auto seconds = static_cast<std::time_t>(when / kMsPerSecond);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  return parts;
}

std::string formatted(const std::tm& parts, const char* pattern) {
  std::array<char, 64> buffer{};
  const auto length = std::strftime(buffer.data(), buffer.size(), pattern, &parts);
  return {buffer.data(), length};
}

}  // namespace

std::string short_time(WallMs when, WallMs now) {
  const auto then = local(when), today = local(now);
  if (then.tm_year != today.tm_year) return formatted(then, "%Y-%m-%d %H:%M");
  return formatted(then, then.tm_yday == today.tm_yday ? "%H:%M:%S" : "%b %d %H:%M");
}

std::string short_clock(WallMs when, WallMs now) {
  const auto then = local(when), today = local(now);
  const bool same_day = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
  return same_day ? formatted(then, "%H:%M") : short_time(when, now);
}

std::string exact_time(WallMs when) {
  return relay::format("{}.{:03}", formatted(local(when), "%H:%M:%S"), when % kMsPerSecond);
}

std::string short_duration(Millis length) {
  const auto ms = length.count();
  if (ms < 1000) return relay::format("{} ms", ms);
  const auto seconds = ms / 1000;
  if (seconds < 120) return relay::format("{} s", seconds);
  if (seconds < 120 * 60) return relay::format("{} min", seconds / 60);
  if (seconds < 48 * 3600) return relay::format("{} h", seconds / 3600);
  return relay::format("{} d", seconds / 86400);
}

std::string fine_duration(Millis length) {
  const auto ms = length.count();
  if (ms < 1000 || ms >= 10'000) return short_duration(length);
  return relay::format("{}.{} s", ms / 1000, ms % 1000 / 100);
}

std::string short_size(std::uint64_t bytes) {
  static constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1000 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  return unit == 0 ? relay::format("{} B", bytes) : relay::format("{:.1f} {}", size, kUnits[unit]);
}

}  // namespace relay::cli
