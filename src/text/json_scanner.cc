#include "text/json_scanner.h"

#include "base/format.h"
#include "text/json_cursor.h"
#include "text/json_members.h"
#include "text/utf8.h"

namespace relay::text {
namespace detail {
namespace {

constexpr std::size_t kMaxPrintedKeyBytes = 40;

}  // namespace

Failure repeated_key(std::string_view key) {
  return fail(JsonErrc::BadJson,
              format("the key \"{}\" appears twice in one object", truncate_utf8(key, kMaxPrintedKeyBytes)));
}

Result<void> finish(JsonCursor& cursor) {
  cursor.skip_space();
  if (cursor.at_end()) return {};
  cursor.fail_here("unexpected text after the value");
  return cursor.failure();
}

Result<void> wrong_value(JsonCursor& cursor, JsonErrc code, const char* expected) {
  JsonKind kind{};
  if (!cursor.skip_value(kind)) return cursor.failure();
  RELAY_TRY(finish(cursor));
  return fail(code, expected);
}

}  // namespace detail

Result<void> scan_object(std::string_view text, MemberVisitor& visitor, std::size_t depth_used) {
  return detail::for_each_member(
      text, depth_used,
      [&visitor](std::string_view key, JsonKind kind, std::string_view raw) { visitor.member(key, {kind, raw}); });
}

Result<void> scan_array(std::string_view text, ElementVisitor& visitor, std::size_t depth_used) {
  JsonCursor cursor{text, depth_used};
  cursor.skip_space();
  if (!cursor.at('['))
    return detail::wrong_value(cursor, JsonErrc::NotAnArray, "expected a JSON array, found another JSON value");
  if (!cursor.enter()) return cursor.failure();
  cursor.take('[');
  cursor.skip_space();
  if (cursor.take(']')) return detail::finish(cursor);
  while (true) {
    const char* const start = cursor.position();
    JsonKind kind{};
    if (!cursor.skip_value(kind)) return cursor.failure();
    visitor.element({kind, cursor.since(start)});
    cursor.skip_space();
    if (cursor.take(']')) return detail::finish(cursor);
    if (!cursor.take(',')) {
      cursor.fail_here("expected a comma or a closing bracket");
      return cursor.failure();
    }
    cursor.skip_space();
  }
}

Result<void> check_object(std::string_view text, std::size_t depth_used) {
  class NullListener final : public MemberVisitor {
   public:
    void member(std::string_view, JsonSlice) override {}
  } ignore_all;
  return scan_object(text, ignore_all, depth_used);
}

}  // namespace relay::text
