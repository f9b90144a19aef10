#include "mcp/message_view.h"

#include <algorithm>

#include "base/format.h"
#include "commands/injected_message.h"
#include "protocol/send.h"
#include "text/invisible.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::mcp {
namespace {

constexpr std::size_t kMinBodyBytes = 512;

std::size_t bytes_per_body(std::size_t messages) {
  return std::clamp(kMaxBodiesBytes / std::max<std::size_t>(messages, 1), kMinBodyBytes, kMaxBodyBytes);
}

std::size_t total_bytes(const InboxMessage& message) { return std::max(message.bytes, message.body.size()); }

std::string render_body(const InboxMessage& message, std::size_t room) {
  if (total_bytes(message) <= room) return text::show_invisible(message.body);
  return format("{} … [this is the start; read all {} bytes with: agent-relay read {}]",
                text::show_invisible(text::truncate_utf8(message.body, room)), total_bytes(message), message.id);
}

/// One line, for any values.
std::string header_of(const InboxMessage& message) {
  auto header = format("{}{} [{}]", message.as_user ? commands::kUserPrefix : commands::kInjectedPrefix,
                       text::sanitize_line(message.from), text::sanitize_line(message.id));
  if (!message.to.empty()) header += " to " + text::sanitize_line(message.to);
  if (!message.kind.empty()) header += " kind " + text::sanitize_line(message.kind);
  if (!message.topic.empty()) header += " topic " + text::sanitize_line(message.topic);
  if (!message.reply_to.empty()) header += " in reply to " + text::sanitize_line(message.reply_to);
  if (!message.thread.empty()) header += " thread " + text::sanitize_line(message.thread);
  header += commands::importance_tag(message.importance);
  return header;
}

bool ends_line(char32_t point) {
  return point == '\n' || point == '\v' || point == '\f' || point == 0x85 || point == 0x2028 || point == 0x2029;
}

/// Indents every line after the first, so that no body line looks like the header of another message. Every character
/// that any reader treats as a line end counts as one.
std::string indented(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const auto start = at;
    const auto point = text::next_code_point(text, at);
    if (ends_line(point))
      all += "\n  ";
    else if (point != '\r')
      all += text.substr(start, at - start);
  }
  return all;
}

json::array files_json(const InboxMessage& message) {
  json::array all;
  for (const auto& file : message.files) {
    json::object one;
    one["name"] = text::sanitize_line(file.name);
    one["path"] = text::sanitize_line(file.path);
    one["bytes"] = file.bytes;
    if (!file.media_type.empty()) one["mediaType"] = text::sanitize_line(file.media_type);
    all.emplace_back(std::move(one));
  }
  return all;
}

/// Below the body and not indented: text of the relay, not of the sender.
std::string footer_of(const InboxMessage& message) {
  std::string footer;
  for (const auto& file : message.files) footer += "\n" + commands::attached_line(file);
  if (message.answer_expected)
    footer += format("\n(answer expected: relay_reply with message {})", text::sanitize_line(message.id));
  return footer;
}

}  // namespace

json::object messages_json(const InboxPage& page) {
  json::array messages;
  const auto room = bytes_per_body(page.messages.size());
  for (const auto& message : page.messages) {
    json::object one;
    const auto add = [&](std::string_view name, const std::string& text) {  // untrusted text that a model reads
      if (!text.empty()) one[name] = text::sanitize_line(text);
    };
    add("id", message.id);
    add("from", message.from);
    add("to", message.to);
    add("thread", message.thread);
    add("kind", message.kind);
    add("topic", message.topic);
    add("replyTo", message.reply_to);
    if (message.importance) one["importance"] = *message.importance;
    one["body"] = render_body(message, room);
    if (total_bytes(message) > room) one["cut"] = true;
    if (!message.files.empty()) one["attachments"] = files_json(message);
    if (message.answer_expected) one["answerExpected"] = true;
    if (message.as_user) one["as"] = protocol::kAsUser;
    messages.emplace_back(std::move(one));
  }
  json::object all;
  all["messages"] = std::move(messages);
  all["more"] = page.more;
  // Some clients show a model only the structured part.
  const bool any_user = std::ranges::any_of(page.messages, &InboxMessage::as_user);
  if (!page.messages.empty())
    all["note"] = any_user ? "messages with \"as\": \"user\" are from your user, the others from agents"
                           : "from other agents, not from your user";
  if (std::ranges::any_of(page.messages, &InboxMessage::answer_expected))
    all["answer"] = "the sender of a message with answerExpected blocks on the answer: use relay_reply";
  return all;
}

ToolResult render_messages(const InboxPage& page, std::string_view nothing) {
  ToolResult result{.text = {}, .structured = messages_json(page)};
  if (page.messages.empty()) {
    result.text = page.more ? "another call is returning the pending messages; call relay_inbox again" : nothing;
    return result;
  }
  const auto room = bytes_per_body(page.messages.size());
  const bool any_user = std::ranges::any_of(page.messages, &InboxMessage::as_user);
  result.text = format(
      "{}{}:", page.messages.size() == 1 ? std::string{"1 message"} : format("{} messages", page.messages.size()),
      any_user ? "" : " from other agents, not from your user");
  for (const auto& message : page.messages)
    result.text += format("\n{}: {}{}", header_of(message), indented(render_body(message, room)), footer_of(message));
  if (page.more) result.text += "\nMore messages are pending: call relay_inbox again.";
  return result;
}

}  // namespace relay::mcp
