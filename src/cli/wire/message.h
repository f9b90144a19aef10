/// A stored message as the daemon tells it, and how a person sees it.
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
  json::object raw;  // as it came, for --json
};

MessageRow message_from(json::object raw);
/// An INBOX_RESPONSE or MESSAGES_RESPONSE; an `error` in it is an error.
struct Page {
  std::vector<MessageRow> messages;
  bool more = false;  // others did not fit the frame
};
Result<Page> page_in(std::string_view payload);

/// The newest `limit` that fit an INBOX or MESSAGES_QUERY, newest first, asked for in as many pages as it takes.
Result<std::vector<MessageRow>> newest_messages(DaemonConnection& connection, protocol::MessageType type,
                                                json::object query, std::int64_t limit);

/// Whether this can be a message's id or the beginning of one. The error is a usage error.
Result<void> check_id_given(std::string_view id);

/// `14:03:07  7kq2m9xa  Alice → Bob  build is green`: one line, cut to the terminal if there is one, less the columns that
/// are taken already.
/// Two lines where the terminal is narrow. `cut` becomes true when the body is not shown whole.
std::string message_line(const MessageRow& message, const Context& context, std::size_t taken_columns = 0,
                         bool* cut = nullptr);
/// After lines that were cut: how to read one whole. Nothing to a reader that is no terminal.
void print_read_hint(const Context& context);
/// The whole message with a head, for `read`.
std::string message_page(const MessageRow& message, const Context& context);

/// Prints them, one line each, or as `{"messages":[…]}`.
enum class Shape { Lines, Json };
void print_messages(const std::vector<MessageRow>& messages, const Context& context, Shape shape);

}  // namespace relay::cli
