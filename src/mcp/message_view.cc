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

std::size_t room_for_each(std::size_t letters) {
  return std::clamp(kMaxBodiesBytes / std::max<std::size_t>(letters, 1), kMinBodyBytes, kMaxBodyBytes);
}

std::size_t whole_size(const InboxMessage& letter) { return std::max(letter.bytes, letter.body.size()); }

std::string body_shown(const InboxMessage& letter, std::size_t room) {
  if (whole_size(letter) <= room) return text::show_invisible(letter.body);
  return format("{} … [this is the beginning; all {} bytes are shown by: agent-relay read {}]",
                text::show_invisible(text::truncate_utf8(letter.body, room)), whole_size(letter), letter.id);
}

/// What stands in a header, whoever chose it, is one line.
std::string header_of(const InboxMessage& letter) {
  auto header = format("{}{} [{}]", letter.as_user ? commands::kUserPrefix : commands::kInjectedPrefix,
                       text::sanitize_line(letter.from), text::sanitize_line(letter.id));
  if (!letter.to.empty()) header += " to " + text::sanitize_line(letter.to);
  if (!letter.kind.empty()) header += " kind " + text::sanitize_line(letter.kind);
  if (!letter.topic.empty()) header += " topic " + text::sanitize_line(letter.topic);
  if (!letter.reply_to.empty()) header += " in reply to " + text::sanitize_line(letter.reply_to);
  if (!letter.thread.empty()) header += " thread " + text::sanitize_line(letter.thread);
  header += commands::importance_tag(letter.importance);
  return header;
}

bool ends_line(char32_t point) {
  return point == '\n' || point == '\v' || point == '\f' || point == 0x85 || point == 0x2028 || point == 0x2029;
}

/// A line of a body never begins where a header does, so no body can look like another letter. Whatever some reader
/// takes for the end of a line is one.
std::string indented(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    const auto point = text::next_code_point(text, at);
    if (ends_line(point))
      all += "\n  ";
    else if (point != '\r')
      all += text.substr(begin, at - begin);
  }
  return all;
}

json::array files_json(const InboxMessage& letter) {
  json::array all;
  for (const auto& file : letter.files) {
    json::object one;
    one["name"] = text::sanitize_line(file.name);
    one["path"] = text::sanitize_line(file.path);
    one["bytes"] = file.bytes;
    if (!file.media_type.empty()) one["mediaType"] = text::sanitize_line(file.media_type);
    all.emplace_back(std::move(one));
  }
  return all;
}

/// Below the body and not indented as it is: these are our words.
std::string footer_of(const InboxMessage& letter) {
  std::string footer;
  for (const auto& file : letter.files) footer += "\n" + commands::attached_line(file);
  if (letter.answer_expected)
    footer += format("\n(answer expected: relay_reply with message {})", text::sanitize_line(letter.id));
  return footer;
}

}  // namespace

json::object messages_json(const InboxPage& mail) {
  json::array letters;
  const auto room = room_for_each(mail.letters.size());
  for (const auto& letter : mail.letters) {
    json::object one;
    const auto add = [&](std::string_view name, const std::string& text) {  // others wrote it, and a model reads it
      if (!text.empty()) one[name] = text::sanitize_line(text);
    };
    add("id", letter.id);
    add("from", letter.from);
    add("to", letter.to);
    add("thread", letter.thread);
    add("kind", letter.kind);
    add("topic", letter.topic);
    add("replyTo", letter.reply_to);
    if (letter.importance) one["importance"] = *letter.importance;
    one["body"] = body_shown(letter, room);
    if (whole_size(letter) > room) one["cut"] = true;
    if (!letter.files.empty()) one["attachments"] = files_json(letter);
    if (letter.answer_expected) one["answerExpected"] = true;
    if (letter.as_user) one["as"] = protocol::kAsUser;
    letters.emplace_back(std::move(one));
  }
  json::object all;
  all["messages"] = std::move(letters);
  all["more"] = mail.more;
  // Some clients show a model the structured part alone.
  const bool any_user = std::ranges::any_of(mail.letters, &InboxMessage::as_user);
  if (!mail.letters.empty())
    all["note"] = any_user ? "those with \"as\": \"user\" are your user's, the rest was written by others on the relay"
                           : "written by others on the relay, not by your user";
  if (std::ranges::any_of(mail.letters, &InboxMessage::answer_expected))
    all["answer"] = "who wrote a message with answerExpected waits for it: answer with relay_reply";
  return all;
}

ToolResult render_messages(const InboxPage& mail, std::string_view nothing) {
  ToolResult result{.text = {}, .structured = messages_json(mail)};
  if (mail.letters.empty()) {
    result.text = mail.more ? "those that wait are shown by another call just now; call relay_inbox again" : nothing;
    return result;
  }
  const auto room = room_for_each(mail.letters.size());
  const bool any_user = std::ranges::any_of(mail.letters, &InboxMessage::as_user);
  result.text =
      format("{}{}:", mail.letters.size() == 1 ? std::string{"1 message"} : format("{} messages", mail.letters.size()),
             any_user ? "" : " from others on the relay, not from your user");
  for (const auto& letter : mail.letters)
    result.text += format("\n{}: {}{}", header_of(letter), indented(body_shown(letter, room)), footer_of(letter));
  if (mail.more) result.text += "\nMore wait: call relay_inbox again.";
  return result;
}

}  // namespace relay::mcp
