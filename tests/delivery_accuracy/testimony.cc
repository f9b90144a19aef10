#include "testimony.h"

#include <fstream>

#include "base/format.h"
#include "base/json.h"

namespace relay::verdicts {
namespace {

constexpr std::size_t kMaxExamples = 10;
constexpr std::string_view kSubmit = "\"submit\"";  // most lines are of other events, and need not be parsed

}  // namespace

Result<void> Testimony::read(std::size_t agent, const std::string& path) {
  auto& log = logs_.at(agent);
  std::ifstream file{path, std::ios::binary};
  if (!file) return {};  // it has not started yet
  file.seekg(static_cast<std::streamoff>(log.read));
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  if (file.bad()) return fail(relay::format("cannot read {}", path));
  log.read += bytes.size();
  hear(agent, bytes);
  return {};
}

void Testimony::hear(std::size_t agent, std::string_view bytes) {
  auto& rest = logs_.at(agent).rest;
  rest += bytes;
  std::size_t at = 0;
  for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', at)) {
    const auto line = std::string_view{rest}.substr(at, end - at);
    at = end + 1;
    if (!line.contains(kSubmit)) continue;
    const auto event = parse_json_object(line);
    if (event && string_member(*event, "event") == "submit")
      on_submit(agent, string_member(*event, "text").value_or(""));
  }
  rest.erase(0, at);
}

void Testimony::on_submit(std::size_t agent, const std::string& text) {
  const auto found = parcels_in(text);
  const bool one = found.size() == 1 && found[0].whole && text.ends_with(body_of(found[0].number)) &&
                   plan_.errand(found[0].number).agent == agent;
  if (!one) {
    ++torn_;
    example(relay::format("agent {} was given: {}", agent, text));
  }
  for (const auto& [number, whole] : found) {
    if (!whole) continue;
    if (++times_[number] > 1) example(relay::format("agent {} was given parcel {} again", agent, number));
    auto& latest = latest_[plan_.errand(number)];
    if (number < latest) {
      ++disordered_;
      example(relay::format("agent {} was given parcel {} after {}", agent, number, latest));
    }
    latest = std::max(latest, number);
  }
}

std::size_t Testimony::times(Number number) const {
  const auto found = times_.find(number);
  return found == times_.end() ? 0 : found->second;
}

void Testimony::example(std::string sentence) {
  if (examples_.size() < kMaxExamples) examples_.push_back(std::move(sentence));
}

}  // namespace relay::verdicts
