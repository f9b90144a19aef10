#include "commands/outbox_file.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/format.h"
#include "commands/address.h"
#include "commands/block.h"
#include "commands/grammar_options.h"
#include "commands/line_shape.h"
#include "commands/spawn_line.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::commands {
namespace {

constexpr std::string_view kFileForm = "TO: Bob\n\nyour text";
constexpr std::string_view kJsonForm = R"({"kind":"message","to":"Bob","body":"your text"})";
constexpr std::size_t kMaxHeaders = 32;

using Headers = std::map<std::string, std::string, std::less<>>;

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

Result<Headers> take_headers(std::string_view& text) {
  Headers headers;
  while (!text.empty()) {
    const auto line = take_line(text);
    if (is_blank_line(line)) break;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0)
      return fail(relay::format("\"{}\" is not a header; an empty line separates the headers from the text",
                                trimmed(line.substr(0, 40))));
    if (headers.size() == kMaxHeaders) return fail("it has too many headers");
    headers.insert_or_assign(lower(trimmed(line.substr(0, colon))), std::string{trimmed(line.substr(colon + 1))});
  }
  return headers;
}

std::optional<std::string> value(const Headers& headers, std::string_view name) {
  const auto found = headers.find(name);
  return found == headers.end() || found->second.empty() ? std::nullopt : std::optional{found->second};
}

Result<bool> parse_yes_or_no(std::string_view word) {
  const auto answer = lower(word);
  if (answer == "yes" || answer == "true") return true;
  if (answer == "no" || answer == "false") return false;
  return fail("ACK-REQUIRED must be yes or no");
}

std::string without_carriage_returns(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] != '\r' || at + 1 == text.size() || text[at + 1] != '\n') out += text[at];
  return out;
}

Result<Command> read_headers_form(std::string_view content, const SourceLocation& location) {
  const auto headers = RELAY_TRY(take_headers(content));
  const auto body = without_carriage_returns(trimmed(content));
  const auto kind_name = lower(value(headers, "kind").value_or("message"));
  if (const auto worker = worker_verb(kind_name); worker != WorkerVerb::None) {
    const auto name = value(headers, "name");
    if (!name) return fail("NAME, the worker's name, is missing");
    if (worker == WorkerVerb::Release) return ReleaseCommand{location, *name};
    const auto cli = value(headers, "cli");
    if (!cli) return fail("CLI, the program to run, is missing");
    return SpawnCommand{location, *name, *cli, body};
  }
  if (const auto verb = topic_verb(kind_name); verb != TopicVerb::None) {
    const auto topic = value(headers, "topic");
    if (!topic || !is_topic_word(*topic))
      return fail("TOPIC is missing, or has more than letters, digits, _, -, . and /");
    return TopicChange{location, *topic, verb == TopicVerb::Subscribe};
  }
  const auto kind = parse_kind(kind_name);
  if (!kind) return fail(relay::format("unknown kind \"{}\"", kind_name));
  const auto to = value(headers, "to");
  if (!to) return fail("TO, the recipient, is missing");
  if (is_placeholder(*to)) return fail(relay::format("{} is a name from an example", *to));
  SendCommand command{.location = location, .kind = *kind, .body = body};
  command.project = value(headers, "project");
  if (command.project)
    command.to = *to;
  else
    split_project(*to, command.to, command.project);
  command.thread = value(headers, "thread");
  command.topic = value(headers, "topic");
  command.metadata.subject = value(headers, "subject");
  command.metadata.reply_to = value(headers, "reply-to");
  if (const auto wanted = value(headers, "ack-required"))
    command.metadata.ack_required = RELAY_TRY(parse_yes_or_no(*wanted));
  if (const auto importance = value(headers, "importance")) {
    std::int64_t number = 0;
    const auto* end = importance->data() + importance->size();
    if (std::from_chars(importance->data(), end, number).ptr != end) return fail("IMPORTANCE is not a whole number");
    command.metadata.importance = number;
  }
  if (command.body.empty()) return fail("it has no text after the headers");
  return command;
}

}  // namespace

Command read_outbox_file(std::string_view content, const SourceLocation& location) {
  if (content.size() > kMaxBlockBytes)
    return CommandError{location,
                        relay::format("the outbox file was not sent: it is larger than {} bytes", kMaxBlockBytes),
                        std::string{kFileForm}};
  std::string repaired;
  if (!text::is_utf8(content)) content = repaired = text::repair_utf8(content);
  if (trimmed(content).starts_with('{')) return read_block(content, location, kJsonForm);
  auto command = read_headers_form(content, location);
  if (command) return *std::move(command);
  return CommandError{location, relay::format("the outbox file was not sent: {}", command.error().message()),
                      std::string{kFileForm}};
}

}  // namespace relay::commands
