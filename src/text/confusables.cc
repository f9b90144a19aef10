#include "text/confusables.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "text/unicode_tables.inc"

namespace relay::text {
namespace {

std::string decomposed(std::string_view text) {
  utf8proc_uint8_t* out = nullptr;
  const auto bytes = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                  static_cast<utf8proc_ssize_t>(text.size()), &out, UTF8PROC_DECOMPOSE);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned{out, &std::free};
  if (bytes < 0) return std::string{text};
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(bytes)};
}

/// Empty when it is its own prototype.
std::string_view prototype_of(char32_t point) {
  const auto found = std::ranges::lower_bound(kPrototypes, point, {}, &Prototype::point);
  if (found == std::end(kPrototypes) || found->point != point) return {};
  return kPrototypeText.substr(found->offset, found->length);
}

}  // namespace

std::string confusable_skeleton(std::string_view text) {
  const auto parts = decomposed(text);
  std::string skeleton;
  skeleton.reserve(parts.size());
  for (std::size_t at = 0; at < parts.size();) {
    utf8proc_int32_t point = 0;
    const auto taken = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(parts.data() + at),
                                        static_cast<utf8proc_ssize_t>(parts.size() - at), &point);
    const auto bytes = taken > 0 ? static_cast<std::size_t>(taken) : 1U;
    const auto prototype = taken > 0 ? prototype_of(static_cast<char32_t>(point)) : std::string_view{};
    skeleton += prototype.empty() ? std::string_view{parts}.substr(at, bytes) : prototype;
    at += bytes;
  }
  return decomposed(skeleton);
}

}  // namespace relay::text
