/// Any path or query: text within the bounds or an error; written targets are read back unchanged.
#include "net/request_target.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "check.h"
#include "text/utf8.h"

namespace {

using namespace relay::net;

void check_text(const std::string& text) {
  FUZZ_CHECK(text.size() <= kMaxTargetPartBytes && relay::text::is_utf8(text));
  FUZZ_CHECK(std::none_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == 127; }));
}

void try_path(std::string_view text) {
  const auto segments = path_segments(text);
  FUZZ_CHECK(segments || !segments.error().message().empty());
  if (!segments) return;
  FUZZ_CHECK(segments->size() <= kMaxPathSegments);
  std::string again = segments->empty() ? "/" : "";
  for (const auto& segment : *segments) {
    check_text(segment);
    FUZZ_CHECK(!segment.empty() && segment != "." && segment != "..");
    again += "/" + percent_encoded(segment);
  }
  const auto back = path_segments(again);
  FUZZ_CHECK(back && *back == *segments);
}

void try_query(std::string_view text) {
  const auto query = QueryParameters::parse(text);
  FUZZ_CHECK(query || !query.error().message().empty());
  if (!query) return;
  FUZZ_CHECK(query->pairs().size() <= kMaxQueryPairs);
  std::string again;
  for (const auto& [name, value] : query->pairs()) {
    check_text(name);
    check_text(value);
    FUZZ_CHECK(query->find(name).has_value());
    again += percent_encoded(name) + "=" + percent_encoded(value) + "&";
  }
  const auto back = QueryParameters::parse(again);
  FUZZ_CHECK(back && back->pairs() == query->pairs());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};
  try_path(text);
  try_path("/" + std::string{text});
  try_query(text);
  return 0;
}
