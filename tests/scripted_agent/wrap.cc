#include "scripted_agent/wrap.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>

namespace relay::scripted_agent {
namespace {

/// Makes the C library decode UTF-8 during its lifetime, whatever the environment.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", {});
    before_ = ::uselocale(utf8);
  }
  ~Utf8Locale() { ::uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t before_;
};

struct Character {
  std::size_t bytes, columns;
};

Character first_of(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return {1, 1};
  wchar_t wide = 0;
  std::mbstate_t state{};
  const auto bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {1, 1};  // invalid: drawn as a replacement
  const auto columns = ::wcwidth(wide);
  return {bytes, columns < 0 ? 1 : static_cast<std::size_t>(columns)};
}

/// The bytes that fit into `columns`.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto next = first_of(text.substr(at));
    if (next.columns > columns) break;
    columns -= next.columns;
    at += next.bytes;
  }
  return at;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto next = first_of(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

}  // namespace

std::size_t width(std::string_view text) {
  const Utf8Locale locale;
  return columns_of(text);
}

std::string_view tail(std::string_view text, std::size_t columns) {
  const Utf8Locale locale;
  auto all = columns_of(text);
  while (all > columns) {
    const auto next = first_of(text);
    all -= next.columns;
    text.remove_prefix(next.bytes);
  }
  return text;
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::string_view first_prefix,
                              std::string_view next_prefix) {
  const Utf8Locale locale;
  std::vector<std::string> lines;
  while (true) {
    const auto line_end = text.find('\n');
    auto line = text.substr(0, line_end);
    do {
      const auto prefix = lines.empty() ? first_prefix : next_prefix;
      const auto room = std::max<std::size_t>(columns > columns_of(prefix) ? columns - columns_of(prefix) : 0, 1);
      auto take = line.empty() ? 0 : std::max(bytes_of(line, room), first_of(line).bytes);
      if (take < line.size() && line[take] != ' ')
        if (const auto blank = line.rfind(' ', take); blank != std::string_view::npos && blank > 0) take = blank;
      lines.push_back(std::string{prefix}.append(line.substr(0, take)));
      line.remove_prefix(take);
      if (line.starts_with(' ')) line.remove_prefix(1);
    } while (!line.empty());
    if (line_end == std::string_view::npos) return lines;
    text.remove_prefix(line_end + 1);
  }
}

}  // namespace relay::scripted_agent
