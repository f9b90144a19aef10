#include "text/iso_time.h"

#include <chrono>
#include <ctime>

#include "base/format.h"

namespace relay::text {
namespace {

/// Parses the text from the left; `good` stays false once a part did not match.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_{text} {}

  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit()) {
        good_ = false;
        return 0;
      }
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) { good_ = take(c) && good_; }

  /// Milliseconds of a fraction of any length; finer digits are dropped.
  int fraction() {
    int value = 0;
    int scale = 100;
    good_ = is_digit() && good_;
    for (; is_digit(); rest_.remove_prefix(1), scale /= 10) value += (rest_.front() - '0') * scale;
    return value;
  }

  [[nodiscard]] bool finished() const { return good_ && rest_.empty(); }

 private:
  [[nodiscard]] bool is_digit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::optional<WallMs> parse_iso_time(std::string_view text) {
  TimeReader reader{text};
  const int year = reader.digits(4);
  reader.expect('-');
  const int month = reader.digits(2);
  reader.expect('-');
  const int day = reader.digits(2);
  if (!reader.take('T') && !reader.take('t')) reader.expect(' ');
  const int hour = reader.digits(2);
  reader.expect(':');
  const int minute = reader.digits(2);
  int second = 0;
  int millis = 0;
  if (reader.take(':')) {
    second = reader.digits(2);
    if (reader.take('.')) millis = reader.fraction();
  }
  int offset_minutes = 0;
  if (!reader.take('Z') && !reader.take('z')) {
    const int sign = reader.take('-') ? -1 : 1;
    if (sign > 0) reader.expect('+');
    const int offset_hours = reader.digits(2);
    reader.take(':');
    const int minutes = reader.digits(2);
    if (offset_hours > 23 || minutes > 59) return std::nullopt;
    offset_minutes = sign * (offset_hours * 60 + minutes);
  }
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  // 60 is a leap second, which Unix time gives to the next minute.
  if (!reader.finished() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const auto days = std::chrono::sys_days{date}.time_since_epoch();
  const auto time = days + std::chrono::hours{hour} + std::chrono::minutes{minute - offset_minutes} +
                    std::chrono::seconds{second} + std::chrono::milliseconds{millis};
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::string format_iso_time(WallMs time) {
  const std::time_t seconds = static_cast<std::time_t>(time / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                parts.tm_hour, parts.tm_min, parts.tm_sec, time % 1000);
}

}  // namespace relay::text
