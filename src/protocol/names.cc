#include "protocol/names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "text/confusables.h"
#include "text/invisible.h"
#include "text/scripts.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

/// The first four belong to the daemon's own programs. Events use the others for decisions that no agent made.
constexpr std::array<std::string_view, 7> kReserved = {kUserName, "system", kDashboardName, "cli",
                                                       "api",     "policy", "nobody"};

/// White space beyond ASCII's, and the Braille pattern without dots.
bool is_wide_blank(char32_t point) {
  return point == 0xA0 || point == 0x2800 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) ||
         point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

/// Invisible characters would let two different names look the same.
bool is_unseen(char32_t point) { return point == ' ' || is_wide_blank(point) || text::is_invisible(point); }

/// Private-use characters look different with each font.
bool is_private_use(char32_t point) { return (point >= 0xE000 && point <= 0xF8FF) || point >= 0xF0000; }

Failure bad_name(std::string_view problem) { return fail(Errc::BadField, format("this agent name {}", problem)); }

/// Lower-cases ASCII only: reserved names are ASCII.
std::string to_lower(std::string_view text) {
  std::string lower{text};
  for (char& byte : lower)
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  return lower;
}

}  // namespace

Result<void> check_agent_name(std::string_view name) {
  if (name.empty()) return bad_name("is empty; give the agent a name");
  if (name.size() > kMaxNameBytes) {
    return bad_name(format("is {} bytes long, the limit is {}; choose a shorter one", name.size(), kMaxNameBytes));
  }
  for (std::size_t at = 0; at < name.size();) {
    const char32_t point = text::next_code_point(name, at);
    if (point == text::kInvalidCodePoint) return bad_name("is not UTF-8");
    if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return bad_name("contains a control character; leave it out");
    if (is_unseen(point)) return bad_name("contains white space or an invisible mark; leave it out");
    if (is_private_use(point)) return bad_name("contains a private-use character; leave it out");
    if (point == '*' || point == '/' || point == '\\') {
      return bad_name(format("contains '{}', which is not allowed; leave it out", static_cast<char>(point)));
    }
  }
  if (!text::is_compatibility_composed(name))
    return bad_name("contains characters in a compatibility form, such as full width; write the plain characters");
  if (!text::is_highly_restrictive(name))
    return bad_name("mixes several scripts, which can look like another name; use one script");
  if (name.front() == '#') return bad_name("starts with '#', as channels do; choose another");
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
  if (text::has_control_characters(name)) {
    return fail(Errc::BadField, "this channel name contains a control character; leave it out");
  }
  for (std::size_t at = 0; at < name.size();) {
    const char32_t point = text::next_code_point(name, at);
    if (text::is_invisible(point) || is_wide_blank(point) || is_private_use(point))
      return fail(Errc::BadField, "this channel name contains an invisible character; leave it out");
  }
  for (std::size_t start = 0; start <= name.size();) {  // each name in `dm:Alice:Bob` separately
    const auto end = std::min(name.find(':', start), name.size());
    if (!text::is_highly_restrictive(name.substr(start, end - start)))
      return fail(Errc::BadField,
                  "this channel name mixes several scripts, which can look like another; use one script");
    start = end + 1;
  }
  return {};
}

bool is_reserved_name(std::string_view name) {
  return name == kRouter || std::ranges::find(kReserved, name) != kReserved.end();
}

std::string_view reserved_look_alike(std::string_view name) {
  const auto skeleton = text::confusable_skeleton(name);
  const auto small = text::confusable_skeleton(to_lower(name));
  for (const auto taken : kReserved) {
    if (name == taken) continue;
    if (skeleton == text::confusable_skeleton(taken) || small == text::confusable_skeleton(to_lower(taken)))
      return taken;
  }
  return {};
}

bool is_internal_name(std::string_view name) {
  return name.starts_with("__") || name == "Dashboard" || name == "_DashboardUI" || name == "cli";
}

}  // namespace relay::protocol
