/// A stored message as the daemon tells it, and how a person sees it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/connection.h"
#include "cli/context.h"

namespace relay::cli {

struct Message {
  std::string id;  // the short one
  std::int64_t key = 0;
  std::string from, to, topic, thread, kind, status, body;
  WallMs timestamp = 0;
  json::object raw;  // as it came, for --json
};

Message message_from(json::object raw);
/// The `messages` of an INBOX_RESPONSE or MESSAGES_RESPONSE; an `error` in it is an error.
Result<std::vector<Message>> messages_in(std::string_view payload);

/// MESSAGES_QUERY; the answer as the daemon orders it.
Result<std::vector<Message>> query_messages(Connection& connection, const json::object& query);

/// `14:03:07  7kq2m9xa  Alice → Bob  build is green`: one line, cut to the terminal if there is one.
std::string message_line(const Message& message, const Context& context);
/// The whole message with a head, for `read`.
std::string message_page(const Message& message, const Context& context);

/// Prints them, one line each, or as `{"messages":[…]}`.
enum class Shape { Lines, Json };
void print_messages(const std::vector<Message>& messages, const Context& context, Shape shape);

}  // namespace relay::cli
