/// A stored message as the daemon returns it, and its text for the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/framework/context.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {

struct MessageRow {
  std::string id;  // the short one
  std::int64_t key = 0;
  std::string from, to, topic, thread, kind, status, body;
  WallMs timestamp = 0;
  bool as_user = false;  // it has the user's authority
  std::string reply_to;  // the id of the answered message; may be empty
  std::optional<std::int64_t> importance;
  json::object raw;  // as received, for --json
};

MessageRow message_from(json::object raw);
/// An INBOX_RESPONSE or MESSAGES_RESPONSE; its `error` becomes an error.
struct Page {
  std::vector<MessageRow> messages;
  bool more = false;  // the rest did not fit in the frame
};
Result<Page> parse_page(std::string_view payload);

/// The newest `limit` messages of an INBOX or MESSAGES_QUERY, newest first, in as many pages as needed.
Result<std::vector<MessageRow>> newest_messages(DaemonConnection& connection, protocol::MessageType type,
                                                json::object query, std::int64_t limit);

/// Checks that this can be a message id or a prefix of one. The error is a usage error.
Result<void> check_message_id(std::string_view id);

/// `14:03:07  7kq2m9xa  Alice → Bob  build is green`: one line, truncated to the terminal less
/// `taken_columns`; two lines on a narrow terminal. `cut` becomes true when the body is truncated.
std::string message_line(const MessageRow& message, const Context& context, std::size_t taken_columns = 0,
                         bool* cut = nullptr);
/// After truncated lines: how to show a whole message. Prints only to a terminal.
void print_read_hint(const Context& context);
/// The whole message with a header, for `read`.
std::string message_page(const MessageRow& message, const Context& context);

/// Prints them, one line each, or as `{"messages":[…]}`.
enum class Shape { Lines, Json };
void print_messages(const std::vector<MessageRow>& messages, const Context& context, Shape shape);

}  // namespace relay::cli
