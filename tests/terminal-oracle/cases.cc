#include "cases.h"

#include "base/format.h"
#include "base/json.h"
#include "base/random.h"
#include "terminal/testing/generated_stream.h"
#include "terminal/testing/recording.h"

namespace relay::terminal::oracle {
namespace {

constexpr int kGeneratedStreams = 400;
constexpr int kElementsPerSnapshot = 8;
constexpr int kSnapshotsPerStream = 6;

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned bits = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i)
      bits = (bits << 8) | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) out += i <= count ? kDigits[(bits >> (18 - 6 * i)) & 63] : '=';
  }
  return out;
}

std::string from_base64(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  int bit_count = 0;
  for (const char digit : text) {
    if (digit == '=') break;
    bits = (bits << 6) | static_cast<unsigned>(kDigits.find(digit));
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    out += static_cast<char>(static_cast<unsigned char>(bits >> bit_count));
  }
  return out;
}

Case case_of(const testing::Recording& recording, std::string name) {
  Case test{.name = std::move(name), .size = recording.size};
  for (const auto& event : recording.events) {
    if (event.kind == 'o') test.steps.push_back({.kind = 'o', .bytes = event.data});
    if (event.kind == 'r') test.steps.push_back({.kind = 'r', .size = testing::size_of(event.data)});
    if (event.kind == 'm') test.steps.push_back({.kind = 's'});
  }
  test.steps.push_back({.kind = 's'});
  return test;
}

Case generated_case(std::uint64_t seed) {
  SeededRandom random{seed};
  const Size size{static_cast<int>(10 + random.below(40)), static_cast<int>(4 + random.below(12))};
  Case test{.name = format("generated {}", seed), .size = size};
  for (int i = 0; i < kSnapshotsPerStream; ++i) {
    test.steps.push_back(
        {.kind = 'o',
         .bytes = testing::generated_stream(random, size, kElementsPerSnapshot, testing::Vocabulary::Shared)});
    test.steps.push_back({.kind = 's'});
  }
  return test;
}

}  // namespace

Result<std::vector<Case>> make_cases(const std::filesystem::path& agents) {
  std::vector<Case> cases;
  for (const auto& cast : testing::recordings_below(agents)) {
    const auto recording = RELAY_TRY(testing::read_recording(cast));
    cases.push_back(case_of(recording, std::filesystem::relative(cast, agents).string()));
  }
  for (int seed = 0; seed < kGeneratedStreams; ++seed)
    cases.push_back(generated_case(static_cast<std::uint64_t>(seed)));
  return cases;
}

std::string to_json(const Case& test) {
  json::array steps;
  for (const auto& step : test.steps) {
    json::array entry{std::string(1, step.kind)};
    if (step.kind == 'o') entry.emplace_back(base64(step.bytes));
    if (step.kind == 'r') {
      entry.emplace_back(step.size.columns);
      entry.emplace_back(step.size.rows);
    }
    steps.push_back(std::move(entry));
  }
  return json::serialize(json::object{
      {"name", test.name}, {"columns", test.size.columns}, {"rows", test.size.rows}, {"steps", std::move(steps)}});
}

Result<Case> case_from_json(std::string_view line) {
  const auto object = RELAY_TRY(parse_json_object(line));
  Case test{.name = string_member(object, "name").value_or(""),
            .size = {static_cast<int>(integer_member(object, "columns").value_or(0)),
                     static_cast<int>(integer_member(object, "rows").value_or(0))}};
  for (const auto& value : *array_member(object, "steps")) {
    const auto& entry = value.as_array();
    Step step{.kind = entry.at(0).as_string().at(0)};
    if (step.kind == 'o') step.bytes = from_base64(std::string_view{entry.at(1).as_string()});
    if (step.kind == 'r')
      step.size = {static_cast<int>(entry.at(1).as_int64()), static_cast<int>(entry.at(2).as_int64())};
    test.steps.push_back(std::move(step));
  }
  return test;
}

}  // namespace relay::terminal::oracle
