#include "profiles/cast_player.h"

#include <charconv>
#include <cmath>

#include "base/format.h"
#include "base/json.h"

namespace relay::profiles {
namespace {

constexpr double kFinalDelay = 5;  // seconds behind the last event
constexpr double kMaxCast = 1e6;   // seconds
constexpr std::int64_t kMaxCells = 1'000;

SteadyTime at(double seconds) {
  return SteadyTime{std::chrono::nanoseconds{static_cast<std::int64_t>(std::llround(seconds * 1e9))}};
}

std::optional<terminal::Size> checked(std::int64_t columns, std::int64_t rows) {
  if (columns < 1 || rows < 1 || columns > kMaxCells || rows > kMaxCells) return std::nullopt;
  return terminal::Size{static_cast<int>(columns), static_cast<int>(rows)};
}

/// "120x40"
std::optional<terminal::Size> size_in(std::string_view text) {
  std::int64_t columns = 0, rows = 0;
  const auto* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, columns);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != 'x') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, rows);
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  return checked(columns, rows);
}

}  // namespace

CastPlayer::CastPlayer(const CompiledProfile& compiled, commands::GrammarOptions grammar)
    : watcher_{compiled, std::move(grammar)} {}
CastPlayer::~CastPlayer() = default;

Result<void> CastPlayer::take_header(std::string_view line) {
  const auto header = parse_json_object(line);
  const auto size =
      header ? checked(integer_member(*header, "width").value_or(0), integer_member(*header, "height").value_or(0))
             : std::nullopt;
  if (!size || integer_member(*header, "version") != 2)
    return fail(
        "this is not an asciinema recording of version 2, whose first line is an object with version, width and "
        "height");
  screen_ = std::make_unique<terminal::Screen>(*size);
  return {};
}

Result<std::vector<TimedObservation>> CastPlayer::take(std::string_view line) {
  ++lines_;
  std::vector<TimedObservation> out;
  if (screen_ == nullptr) {
    RELAY_TRY(take_header(line));
    return out;
  }
  const auto value = parse_json(line);
  const auto* event = value ? value->if_array() : nullptr;
  const bool whole = event != nullptr && event->size() >= 3 && event->at(0).is_number() && event->at(1).is_string() &&
                     event->at(2).is_string();
  const double seconds = whole ? event->at(0).to_number<double>() : -1;
  if (!whole || !(seconds >= 0 && seconds <= kMaxCast))
    return fail(
        format("line {} is not an event of an asciinema recording; expected [seconds, \"o\", \"bytes\"]", lines_));
  if (ended_) return out;
  advance_to(seconds, out);
  now_ = std::max(now_, seconds);
  const auto& kind = event->at(1).as_string();
  const auto& data = event->at(2).as_string();
  if (kind == "r") {
    const auto size = size_in({data.data(), data.size()});
    if (!size) return fail(format("line {} has an invalid size; expected columns and rows like 120x40", lines_));
    screen_->resize(*size);
  } else if (kind == "o") {
    screen_->feed({data.data(), data.size()});
    (void)screen_->take_reports();
  }
  // The screen after a full-screen agent ended is not the agent's.
  ended_ = was_alternate_ && !screen_->alternate();
  was_alternate_ = screen_->alternate();
  if (!ended_) update(now_, out);
  return out;
}

std::vector<TimedObservation> CastPlayer::finish() {
  std::vector<TimedObservation> out;
  if (screen_ != nullptr && !ended_) advance_to(now_ + kFinalDelay, out);
  return out;
}

void CastPlayer::update(double seconds, std::vector<TimedObservation>& out) {
  for (auto& observation : watcher_.update(*screen_, at(seconds))) out.push_back({seconds, std::move(observation)});
}

void CastPlayer::advance_to(double seconds, std::vector<TimedObservation>& out) {
  while (const auto due = watcher_.next_update_at()) {
    const double when = std::chrono::duration<double>(due->time_since_epoch()).count();
    if (when >= seconds) return;
    update(when, out);
  }
}

}  // namespace relay::profiles
