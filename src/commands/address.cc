#include "commands/address.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "commands/grammar_options.h"
#include "commands/line_shape.h"

namespace relay::commands {
namespace {

constexpr std::array<std::string_view, 4> kPlaceholders = {"AgentName", "Recipient", "TargetAgent", "SomeAgent"};

constexpr std::size_t kMaxTopicWordBytes = 256;

bool is_thread_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// Removes `[thread:id]` or `[thread:project:id]` at the start. Other text stays.
void take_thread(Address& address) {
  constexpr std::string_view kOpens = "[thread:";
  const auto text = address.rest;
  if (!text.starts_with(kOpens)) return;
  const auto end = text.find(']');
  if (end == std::string_view::npos) return;
  auto id = text.substr(kOpens.size(), end - kOpens.size());
  std::optional<std::string_view> project;
  if (const auto colon = id.find(':'); colon != std::string_view::npos) {
    project = id.substr(0, colon);
    id.remove_prefix(colon + 1);
  }
  const auto good = [](std::string_view word) { return !word.empty() && std::ranges::all_of(word, is_thread_byte); };
  if (!good(id) || (project && !good(*project))) return;
  address.thread = id;
  if (project) address.thread_project = *project;
  address.rest = trimmed(text.substr(end + 1));
}

/// Removes `[topic:deploys]` at the start. Other text stays.
void take_topic(Address& address) {
  constexpr std::string_view kOpens = "[topic:";
  const auto text = address.rest;
  if (!text.starts_with(kOpens)) return;
  const auto end = text.find(']');
  if (end == std::string_view::npos) return;
  const auto topic = text.substr(kOpens.size(), end - kOpens.size());
  if (!is_topic_word(topic)) return;
  address.topic = topic;
  address.rest = trimmed(text.substr(end + 1));
}

/// Characters that no name contains and that indicate another meaning: markdown around the name, a placeholder, a glued
/// tag.
Result<void> check_target(std::string_view target) {
  if (target.empty()) return fail("no name follows the prefix");
  if (target.size() > kMaxTargetBytes) return fail("the name is too long");
  const bool everyone = target == "*" || target.ends_with(":*");
  const auto named = everyone ? target.substr(0, target.size() - 1) : target;
  if (const auto at = named.find_first_of("*`<>[](){}\"\\"); at != std::string_view::npos)
    return fail(relay::format("a name cannot contain '{}'", named[at]));
  for (const char c : target)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return fail("a name cannot contain control characters");
  return {};
}

}  // namespace

bool is_placeholder(std::string_view name) { return std::ranges::find(kPlaceholders, name) != kPlaceholders.end(); }

bool is_topic_word(std::string_view word) {
  return !word.empty() && word.size() <= kMaxTopicWordBytes &&
         std::ranges::all_of(word, [](char c) { return is_thread_byte(c) || c == '.' || c == '/'; });
}

void split_project(std::string_view target, std::string& to, std::optional<std::string>& project) {
  const auto colon = target.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == target.size()) {
    to = target;
    return;
  }
  project = target.substr(0, colon);
  to = target.substr(colon + 1);
}

Result<Address> read_address(std::string_view text) {
  const auto target = text.substr(0, std::min(text.find_first_of(" \t"), text.size()));
  RELAY_TRY(check_target(target));
  Address address;
  address.rest = trimmed(text.substr(target.size()));
  split_project(target, address.to, address.project);
  take_thread(address);
  take_topic(address);
  if (!address.thread) take_thread(address);  // in the other order
  return address;
}

}  // namespace relay::commands
