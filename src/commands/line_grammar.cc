#include "commands/line_grammar.h"

#include "base/format.h"
#include "commands/address.h"
#include "commands/block.h"
#include "commands/injected_message.h"
#include "commands/line_shape.h"
#include "commands/relaxed_json.h"
#include "commands/spawn_line.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::commands {
namespace {

constexpr std::string_view kThinkingOpens = "<thinking>";
constexpr std::string_view kThinkingCloses = "</thinking>";

SourceLocation location_of_line(const Line& line, std::size_t column = 0) { return {line.offset, line.number, column}; }

bool has_control_bytes(std::string_view text) {
  return text.find('\x1b') != std::string_view::npos || text.find('\r') != std::string_view::npos ||
         text.starts_with('[');
}

std::string_view closing_mark(Opener opener) {
  switch (opener) {
    case Opener::Metadata: return "[[/RELAY_METADATA]]";
    case Opener::Summary: return "[[/SUMMARY]]";
    case Opener::SessionEnd: return "[[/SESSION_END]]";
    case Opener::Block:
    case Opener::Message:
    case Opener::Thinking:
    case Opener::Json: break;
  }
  return "[[/RELAY]]";
}

std::string example(std::string_view prefix, std::string_view to) {
  return relay::format("{}{} your text", prefix, to);
}

}  // namespace

LineGrammar::LineGrammar(GrammarOptions options) : options_{std::move(options)}, prefixes_{options_} {}

void LineGrammar::take_any(const Line& original) {
  Line line = original;
  std::string cleaned;
  if (has_control_bytes(line.text)) {
    cleaned = text::strip_control_sequences(line.text);
    line.text = cleaned;
  }
  if (!text::is_utf8(line.text)) {
    cleaned = text::repair_utf8(line.text);
    line.text = cleaned;
  }
  while (!std::visit([&](auto& state) { return on(state, line); }, state_)) {}
}

bool LineGrammar::is_command(std::string_view line) const { return prefixes_.opening(line).has_value(); }

void LineGrammar::report_error(const SourceLocation& location, std::string reason, std::string usage) {
  commands_.emplace_back(CommandError{location, std::move(reason), std::move(usage)});
}

bool LineGrammar::on(Listening&, const Line& line) {
  const auto start = leading_blanks(line.text);
  if (line.text.substr(start).starts_with(kThinkingOpens)) {
    state_ = InThinking{{.opened = location_of_line(line, start)}};
    return on(std::get<InThinking>(state_), line);
  }
  if (const auto fence = fence_opening(line.text)) {
    state_ = InCode{*fence, {.opened = location_of_line(line, start)}};
    return true;
  }
  const auto opening = prefixes_.opening(line.text);
  if (!opening) {
    if (line.may_hold_trigger)
      for (auto& [column, id] : prefixes_.find_file_triggers(line.text))
        commands_.emplace_back(SendFileCommand{location_of_line(line, column), std::move(id)});
    return true;
  }
  switch (opening->opener) {
    case Opener::Message:
    case Opener::Thinking: start_message(*opening, line); break;
    case Opener::Json:
      commands_.push_back(
          read_block(opening->rest, location_of_line(line, opening->lead.end),
                     relay::format(R"({}{{"kind":"message","to":"Bob","body":"your text"}})", opening->prefix)));
      break;
    case Opener::Block:
    case Opener::Metadata:
    case Opener::Summary:
    case Opener::SessionEnd: start_blocks(line.text, line); break;
  }
  return true;
}

bool LineGrammar::on(InCode& code, const Line& line) {
  switch (classify_fence_line(code.fence, line.text)) {
    case FenceLine::Inside:
      if (is_command(line.text)) ++code.hidden.commands;
      return true;
    case FenceLine::Closes: state_ = Listening{}; return true;
    case FenceLine::Left: state_ = Listening{}; return false;
  }
  return true;
}

bool LineGrammar::on(InThinking& thinking, const Line& line) {
  const auto end = line.text.find(kThinkingCloses);
  if (end == std::string_view::npos) {
    if (is_command(line.text)) ++thinking.hidden.commands;
    return true;
  }
  auto rest = line.text.substr(end + kThinkingCloses.size());
  while (rest.substr(leading_blanks(rest)).starts_with(kThinkingOpens)) {
    const auto next = rest.find(kThinkingCloses);
    if (next == std::string_view::npos) return true;
    rest.remove_prefix(next + kThinkingCloses.size());
  }
  state_ = Listening{};
  take_rest(line, rest);
  return true;
}

bool LineGrammar::on(InMessage& message, const Line& line) {
  const auto text = line.text;
  const auto start = text.substr(leading_blanks(text));
  const bool stops = is_command(text) || fence_opening(text) || is_bare_prompt(text) || is_injected_line(text) ||
                     start.starts_with(kThinkingOpens) || !prefixes_.find_file_triggers(text).empty();
  if (!stops && message.line.take(text)) return true;
  end_message();
  return false;
}

bool LineGrammar::on(InBody& body, const Line& line) {
  if (!body.body.in_code()) {
    const auto opening = prefixes_.opening(line.text);
    if (opening && opening->lead.end <= body.body.lead().end) {  // the >>> is missing
      end_body(BodyEnd::Missing);
      return false;
    }
  }
  if (line.cut) body.body.set_overlong();
  const auto step = body.body.take(line.text);
  if (!step.closed) return true;
  end_body(BodyEnd::Marked);
  take_rest(line, step.rest);
  return true;
}

bool LineGrammar::on(InBlock& block, const Line& line) {
  const auto opening = prefixes_.opening(line.text);
  if (opening && is_block(opening->opener)) {
    abandon_block("another block started before it was closed");
    return false;
  }
  const auto end = line.text.find(closing_mark(block.opener));
  const auto inside = line.text.substr(0, end);
  if (block.text.size() + inside.size() > options_.max_block_bytes || block.lines.size() == kMaxBlockLines) {
    abandon_block("it is too large or was never closed");
    return false;
  }
  if (end != std::string_view::npos) {
    const auto rest = line.text.substr(end + closing_mark(block.opener).size());
    const auto whole = std::move(block);
    state_ = Listening{};
    read_one_block(whole.opener, whole.text + std::string{inside}, whole.location);
    start_blocks(rest, line);
    return true;
  }
  block.lines.push_back({block.text.size(), line});
  block.text.append(line.text).append("\n");
  return true;
}

void LineGrammar::start_message(const Opening& opening, const Line& line) {
  const auto location = location_of_line(line, opening.lead.end);
  const auto address = read_address(opening.rest);
  if (!address)
    return report_error(location, relay::format("the message was not sent: {}", address.error().message()),
                        example(opening.prefix, "Bob"));
  if (opening.opener == Opener::Message && !address->project && worker_verb(address->to) != WorkerVerb::None)
    return start_worker(opening, line, *address);
  if (opening.opener == Opener::Message && !address->project && topic_verb(address->to) != TopicVerb::None)
    return take_topic_change(opening, line, *address);
  if (line.cut)
    return report_error(location, "the message was not sent: its line is too long",
                        relay::format("{}-file:ID", opening.prefix));
  SendCommand command{.location = location,
                      .kind = opening.opener == Opener::Thinking ? MessageKind::Thinking : MessageKind::Message,
                      .to = address->to,
                      .project = address->project,
                      .thread = address->thread,
                      .thread_project = address->thread_project,
                      .topic = address->topic,
                      .body = std::string{address->rest},
                      .data = {},
                      .metadata = {}};
  auto rejection = rejection_reason(*address);
  if (opens_body(address->rest))
    return start_body(std::move(command), std::move(rejection), address->rest, opening, line);
  if (address->rest.empty()) rejection = relay::format("no text for {} follows on the same line", address->to);
  if (!rejection.empty())
    return report_error(location, relay::format("the message was not sent: {}", rejection),
                        example(opening.prefix, "Bob"));
  state_ = InMessage{OpenCommand{std::move(command), opening.lead, line.text, options_.max_body_bytes}};
}

void LineGrammar::take_topic_change(const Opening& opening, const Line& line, const Address& address) {
  const auto location = location_of_line(line, opening.lead.end);
  auto topic = read_topic(address.rest);
  if (!topic)
    return report_error(location, relay::format("no subscription was changed: {}", topic.error().message()),
                        relay::format("{}{} TOPIC", opening.prefix, address.to));
  commands_.emplace_back(TopicChange{location, *std::move(topic), topic_verb(address.to) == TopicVerb::Subscribe});
}

void LineGrammar::start_worker(const Opening& opening, const Line& line, const Address& address) {
  const auto location = location_of_line(line, opening.lead.end);
  if (worker_verb(address.to) == WorkerVerb::Release) {
    auto name = read_release(address.rest);
    if (!name)
      return report_error(location, relay::format("no agent was released: {}", name.error().message()),
                          relay::format("{}release NAME", opening.prefix));
    commands_.emplace_back(ReleaseCommand{location, *std::move(name)});
    return;
  }
  auto spawn = read_spawn(address.rest);
  if (!spawn || line.cut)
    return report_error(
        location, relay::format("no agent was spawned: {}", spawn ? "the line is too long" : spawn.error().message()),
        relay::format("{}spawn NAME CLI \"task\"", opening.prefix));
  SpawnCommand value{location, std::move(spawn->name), std::move(spawn->cli), std::move(spawn->task)};
  if (spawn->opens.empty())
    commands_.emplace_back(std::move(value));
  else
    start_body(std::move(value), {}, spawn->opens, opening, line);
}

void LineGrammar::start_body(std::variant<SendCommand, SpawnCommand> command, std::string rejection,
                             std::string_view opens, const Opening& opening, const Line& line) {
  state_ = InBody{std::move(command), std::move(rejection),
                  MessageBody{opening.lead, options_.surface, options_.max_body_bytes}};
  const auto first = trimmed(opens.substr(3));
  if (first.empty()) return;
  auto& body = std::get<InBody>(state_).body;
  if (line.cut) body.set_overlong();
  if (body.take(first).closed) end_body(BodyEnd::Marked);
}

/// Consecutive blocks from here to the end of the line; the last may stay open.
void LineGrammar::start_blocks(std::string_view text, const Line& line) {
  while (const auto opening = prefixes_.opening(text)) {
    if (!is_block(opening->opener)) return;
    const auto column = static_cast<std::size_t>(opening->rest.data() - line.text.data()) - opening->prefix.size();
    const auto location = location_of_line(line, column);
    const auto mark = closing_mark(opening->opener);
    const auto end = opening->rest.find(mark);
    const auto inside = opening->rest.substr(0, end);
    if (inside.size() > options_.max_block_bytes) {
      report_error(location, "the block was not used: it is too large or was never closed", std::string{kBlockForm});
    } else if (end == std::string_view::npos) {
      state_ = InBlock{opening->opener, location, std::string{inside} + "\n", {}};
    } else {
      read_one_block(opening->opener, inside, location);
    }
    if (end == std::string_view::npos) return;
    text = opening->rest.substr(end + mark.size());
  }
}

void LineGrammar::read_one_block(Opener opener, std::string_view text, const SourceLocation& location) {
  if (opener == Opener::SessionEnd) {
    commands_.emplace_back(SessionEndBlock{location, read_session_end(text)});
    return;
  }
  if (opener == Opener::Summary) {
    auto content = parse_relaxed_object(text);
    if (content)
      commands_.emplace_back(SummaryBlock{location, *std::move(content)});
    else
      report_error(location, relay::format("the summary was not used: {}", content.error().message()),
                   std::string{kSummaryForm});
    return;
  }
  if (opener == Opener::Metadata) {
    auto metadata = read_metadata(text);
    if (metadata)
      metadata_ = *std::move(metadata);
    else
      report_error(location, relay::format("the metadata was not used: {}", metadata.error().message()),
                   std::string{kMetadataForm});
    return;
  }
  auto command = read_block(text, location);
  if (auto* send = std::get_if<SendCommand>(&command); send != nullptr && metadata_)
    fill_metadata(send->metadata, *metadata_);
  metadata_.reset();
  commands_.push_back(std::move(command));
}

void LineGrammar::abandon_block(std::string_view reason) {
  const auto block = std::move(std::get<InBlock>(state_));
  state_ = Listening{};
  report_error(block.location, relay::format("the block was not used: {}", reason), std::string{kBlockForm});
  for (const auto& held : block.lines) {
    Line line = held.line;
    line.text = std::string_view{block.text}.substr(held.start, held.line.text.size());
    line.may_hold_trigger = true;
    take_any(line);
  }
}

/// Reads the text after a closing mark on its line. Blocks start only at the start of a line; commands here are
/// lenient.
void LineGrammar::take_rest(const Line& line, std::string_view rest) {
  const auto opening = prefixes_.opening(rest);
  if (!opening || is_block(opening->opener)) return;
  Line more = line;
  more.text = rest;
  take_any(more);
}

void LineGrammar::end_message() {
  auto message = std::move(std::get<InMessage>(state_).line);
  state_ = Listening{};
  if (message.overlong())
    return report_error(message.location(),
                        "the message was not sent: it is too long; write it to a file and send its path",
                        example(prefixes_.relay_prefix(), "Bob"));
  auto command = message.take_command();
  command.body = prefixes_.unescaped(command.body);
  commands_.emplace_back(std::move(command));
}

void LineGrammar::end_body(BodyEnd how) {
  auto body = std::move(std::get<InBody>(state_));
  state_ = Listening{};
  auto text = prefixes_.unescaped(body.body.text());
  if (body.body.overlong()) body.rejection = "it is too long; write it to a file and send its path";
  if (how == BodyEnd::Missing && text.empty()) body.rejection = "its <<< is empty and no >>> closes it";
  const auto location = std::visit([](const auto& each) { return each.location; }, body.whose);
  if (!body.rejection.empty())
    return report_error(location, relay::format("the message was not sent: {}", body.rejection),
                        relay::format("{}Bob <<<\nyour text\n>>>", prefixes_.relay_prefix()));
  if (auto* spawn = std::get_if<SpawnCommand>(&body.whose)) {
    spawn->task = std::move(text);
    commands_.emplace_back(std::move(*spawn));
  } else {
    auto& command = std::get<SendCommand>(body.whose);
    command.body = std::move(text);
    commands_.emplace_back(std::move(command));
  }
}

/// Reasons not to send a well-formed command: it is an example, or repeats the relay's own instructions.
std::string LineGrammar::rejection_reason(const Address& address) const {
  if (is_placeholder(address.to)) return relay::format("{} is a name from an example", address.to);
  if (address.rest.starts_with("[Agent Relay]") || address.rest.find("| PROTOCOL: (") != std::string_view::npos)
    return "it repeats the relay's own instructions";
  if (prefixes_.has_escaped_prefix(address.rest)) return "it contains an escaped command, so it is an example";
  return {};
}

void LineGrammar::report_hidden(const Hidden& hidden, std::string_view where) {
  if (hidden.commands == 0) return;
  report_error(hidden.opened,
               relay::format("{} command{} after this line {} not sent: {}", hidden.commands,
                             hidden.commands == 1 ? "" : "s", hidden.commands == 1 ? "was" : "were", where),
               example(prefixes_.relay_prefix(), "Bob"));
}

void LineGrammar::finish() {
  while (!std::holds_alternative<Listening>(state_)) {
    if (const auto* code = std::get_if<InCode>(&state_)) {
      const auto hidden = code->hidden;
      state_ = Listening{};
      report_hidden(hidden, "the code fence it opens is never closed");
    } else if (const auto* thinking = std::get_if<InThinking>(&state_)) {
      const auto hidden = thinking->hidden;
      state_ = Listening{};
      report_hidden(hidden, "the <thinking> tag it opens is never closed");
    } else if (std::holds_alternative<InMessage>(state_)) {
      end_message();
    } else if (std::holds_alternative<InBody>(state_)) {
      end_body(BodyEnd::Missing);
    } else {
      abandon_block("it was never closed");
    }
  }
  metadata_.reset();
}

}  // namespace relay::commands
