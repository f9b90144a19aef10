#include "protocol/names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/utf8.h"

namespace relay::protocol {
namespace {

/// Space that is none of ASCII's, and marks that print nothing: two names could look the same and not be.
bool is_invisible(char32_t point) {
  return point == 0xA0 || point == 0xAD || point == 0x1680 || point == 0x180E || (point >= 0x2000 && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202F) || (point >= 0x205F && point <= 0x206F) || point == 0x3000 ||
         point == 0xFEFF || (point >= 0xE0000 && point <= 0xE007F);
}

Failure bad_name(std::string_view why) { return fail(Errc::BadField, format("this agent name {}", why)); }

}  // namespace

Result<void> check_agent_name(std::string_view name) {
  if (name.empty()) return bad_name("is empty; give the agent a name");
  if (name.size() > kMaxNameBytes) {
    return bad_name(format("is {} bytes long, the limit is {}; choose a shorter one", name.size(), kMaxNameBytes));
  }
  for (std::size_t at = 0; at < name.size();) {
    const char32_t point = next_code_point(name, at);
    if (point == kNotUtf8) return bad_name("is not UTF-8");
    if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return bad_name("contains a control character; leave it out");
    if (point == ' ' || is_invisible(point)) return bad_name("contains white space or an invisible mark; leave it out");
    if (point == '*' || point == '/' || point == '\\') {
      return bad_name(format("contains '{}', which is not allowed; leave it out", static_cast<char>(point)));
    }
  }
  if (name.front() == '#') return bad_name("begins with '#', which is how channels begin; choose another");
  if (name == "." || name == "..") return bad_name("is only dots; choose another");
  if (name == kAllUsers || name == kConsensus || name == kRouter) {
    return bad_name(format("is {}, an address of the router itself; choose another", name));
  }
  return {};
}

Result<void> check_channel_name(std::string_view name) {
  if (name.empty()) return fail(Errc::BadField, "this channel name is empty; name a channel such as #general");
  if (name.size() > kMaxTopicBytes) {
    return fail(Errc::BadField, format("this channel name is {} bytes long, the limit is {}; choose a shorter one",
                                       name.size(), kMaxTopicBytes));
  }
  if (has_control_characters(name)) {
    return fail(Errc::BadField, "this channel name contains a control character; leave it out");
  }
  return {};
}

bool is_reserved_name(std::string_view name) {
  return name == kDashboardName || name == "cli" || name == "system" || name == kUserName || name == kRouter;
}

bool is_internal_name(std::string_view name) {
  return name.starts_with("__") || name == "Dashboard" || name == "_DashboardUI" || name == "cli";
}

}  // namespace relay::protocol
