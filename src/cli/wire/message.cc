#include "cli/wire/message.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/format.h"
#include "cli/render/text.h"
#include "cli/render/times.h"
#include "cli/wire/json_fields.h"
#include "commands/injected_message.h"
#include "protocol/send.h"
#include "records/short_id.h"

namespace relay::cli {
namespace {

constexpr std::size_t kRouteColumns = 20;
constexpr std::size_t kMaxBody = 2'000;  // columns of one line in a list
constexpr std::size_t kMinBody = 10;     // columns; with less room the body gets a separate line
constexpr std::size_t kNarrowIndent = 4;

bool never_arrived(std::string_view status) {
  return status == "expired" || status == "failed" || status == "cancelled" || status == "dead" || status == "in_doubt";
}

/// The attachments, one per line: name, size and path.
std::string attachment_lines(const MessageRow& message, const Styler& paint) {
  std::string lines;
  for (const auto* file : objects_in(message.raw, "attachments"))
    lines += relay::format(
        "{} {} ({})  {}\n", paint(Color::Dim, "file    "), display_field(*file, "name"),
        short_size(static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_member(*file, "bytes").value_or(0)))),
        display_field(*file, "path"));
  return lines;
}

/// The name proves nothing: an agent may have a name that looks like the user's.
constexpr std::string_view kUserMark = " (user)";

std::size_t route_columns(const MessageRow& message) {
  return display_width(sanitize(message.from, Lines::Join)) + (message.as_user ? kUserMark.size() : 0) +
         display_width(sanitize(message.to.empty() ? "?" : message.to, Lines::Join)) + display_width(marks().arrow) + 2;
}

std::string route(const MessageRow& message, const Styler& paint) {
  const auto from = sanitize(message.from, Lines::Join);
  const auto to = sanitize(message.to.empty() ? "?" : message.to, Lines::Join);
  const auto width = route_columns(message);
  const std::size_t padding = width < kRouteColumns ? kRouteColumns - width : 0;
  return relay::format("{}{} {} {}", paint.name(from), message.as_user ? paint(Color::Dim, kUserMark) : "",
                       marks().arrow, paint.name(to)) +
         std::string(padding, ' ');
}

}  // namespace

MessageRow message_from(json::object raw) {
  MessageRow message;
  const auto text = [&](std::string_view name) { return string_member(raw, name).value_or(""); };
  message.id = text("id");
  message.key = integer_member(raw, "key").value_or(0);
  message.from = text("from");
  message.to = text("to");
  if (message.to.empty()) message.to = text("channel");
  message.topic = text("topic");
  message.thread = text("thread");
  message.kind = text("kind");
  message.status = text("status");
  message.body = text("body");
  message.timestamp = time_in(raw, "timestamp");
  message.as_user = text("as") == protocol::kAsUser;
  message.reply_to = text("replyTo");
  message.importance = integer_member(raw, "importance");
  message.raw = std::move(raw);
  return message;
}

Result<Page> parse_page(std::string_view payload) {
  const auto object = RELAY_TRY(parse_json_object(payload));
  if (const auto error = string_member(object, "error")) return fail(Errc::Refused, "the daemon refused: " + *error);
  const auto* array = array_member(object, "messages");
  if (array == nullptr)
    return fail(Errc::BadResponse,
                "the daemon's response has no messages; compare the versions with: agent-relay doctor");
  Page page{{}, bool_member(object, "more").value_or(false)};
  for (const auto& value : *array)
    if (const auto* entry = value.if_object()) page.messages.push_back(message_from(*entry));
  return page;
}

Result<std::vector<MessageRow>> newest_messages(DaemonConnection& connection, protocol::MessageType type,
                                                json::object query, std::int64_t limit) {
  std::vector<MessageRow> all;
  auto before = std::numeric_limits<std::int64_t>::max();
  while (std::cmp_less(all.size(), limit)) {
    query["limit"] = limit - static_cast<std::int64_t>(all.size());
    const auto payload = RELAY_TRY(connection.request(type, json::serialize(query)));
    auto page = RELAY_TRY(parse_page(payload));
    std::move(page.messages.begin(), page.messages.end(), std::back_inserter(all));
    if (!page.more || page.messages.empty()) break;
    // Stops on a daemon that ignores `beforeKey` and returns the same page again.
    if (all.back().key <= 0 || all.back().key >= before) break;
    query["beforeKey"] = before = all.back().key;
  }
  return all;
}

Result<void> check_message_id(std::string_view id) {
  if (id.size() >= records::kMinPrefixLength) return {};
  return fail(
      relay::format("\"{}\" is too short for an id: give at least its first {} characters, such as 7kq2; "
                    "agent-relay log shows the ids",
                    id, records::kMinPrefixLength));
}

std::string message_line(const MessageRow& message, const Context& context, std::size_t taken_columns, bool* cut) {
  const auto& paint = context.paint;
  const auto time = short_time(message.timestamp, context.now());
  const auto id = sanitize(message.id, Lines::Join);
  auto body = sanitize(message.body, Lines::Join);
  if (const auto tag = commands::importance_tag(message.importance); !tag.empty())
    body = relay::format("{} {}", tag.substr(1), body);
  if (!message.reply_to.empty()) body = relay::format("[reply:{}] {}", sanitize(message.reply_to, Lines::Join), body);
  if (!message.kind.empty() && message.kind != "message")
    body = relay::format("[{}] {}", sanitize(message.kind, Lines::Join), body);
  if (never_arrived(message.status)) body = relay::format("({}) {}", message.status, body);
  const auto head =
      taken_columns + display_width(time) + display_width(id) + std::max(kRouteColumns, route_columns(message)) + 6;
  const bool narrow = context.to_terminal && head + kMinBody > context.columns;
  const auto room = !context.to_terminal ? kMaxBody : narrow ? context.columns - kNarrowIndent : context.columns - head;
  if (display_width(body) > room) {
    body = truncate(body, room);
    if (!context.to_terminal) body += relay::format(" ({} bytes; agent-relay read {})", message.body.size(), id);
    if (cut != nullptr) *cut = true;
  }
  auto sender_to_recipient = route(message, paint);
  while (narrow && sender_to_recipient.ends_with(' ')) sender_to_recipient.pop_back();
  const auto own_line = "\n" + std::string(kNarrowIndent, ' ');
  const auto stamp_columns = taken_columns + display_width(time) + 2 + display_width(id) + 2;
  const bool route_fits = !narrow || stamp_columns + route_columns(message) <= context.columns;
  return relay::format("{}  {}{}{}{}{}\n", paint(Color::Dim, time), paint(Color::Dim, id), route_fits ? "  " : own_line,
                       sender_to_recipient, narrow ? own_line : "  ", body);
}

void print_read_hint(const Context& context) {
  if (context.to_terminal) print_notice("long messages are truncated; show a whole one with: agent-relay read ID");
}

std::string message_page(const MessageRow& message, const Context& context) {
  const auto& paint = context.paint;
  const auto line = [&](std::string_view name, std::string_view value) {
    return value.empty() ? std::string{}
                         : relay::format("{} {}\n", paint(Color::Dim, relay::format("{:<8}", name)),
                                         sanitize(value, Lines::Join));
  };
  std::string page = line("id", message.id) +
                     line("from", message.from + std::string{message.as_user ? kUserMark : ""}) +
                     line("to", message.to);
  page += line("time", short_time(message.timestamp, context.now())) + line("topic", message.topic);
  page += line("thread", message.thread) + (message.kind == "message" ? "" : line("kind", message.kind));
  page += line("reply to", message.reply_to);
  if (message.importance) page += line("importance", relay::format("{}", *message.importance));
  page +=
      line("status", message.status) + attachment_lines(message, paint) + "\n" + sanitize(message.body, Lines::Keep);
  if (!page.ends_with('\n')) page += '\n';
  return page;
}

void print_messages(const std::vector<MessageRow>& messages, const Context& context, Shape shape) {
  if (shape == Shape::Json) {
    json::array array;
    for (const auto& message : messages) array.push_back(message.raw);
    print(json::serialize(json::object{{"messages", std::move(array)}}) + "\n");
    return;
  }
  bool cut = false;
  for (const auto& message : messages) print(message_line(message, context, 0, &cut));
  if (cut) print_read_hint(context);
}

}  // namespace relay::cli
