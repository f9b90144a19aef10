/// Texts that the published program understands yield the same result here, or a better one where it misreads them.
#include <gtest/gtest.h>

#include "base/format.h"
#include "commands/extractor.h"
#include "commands/injected_message.h"
#include "commands/outbox_file.h"
#include "commands/testing/case_files.h"
#include "text/sanitize.h"

namespace relay::commands {
namespace {

using testing::sends_as_json;

const json::object& cases() {
  static const json::object file = testing::load_cases("published_cases.json").as_object();
  return file;
}

GrammarOptions options_of(const json::object& each) {
  GrammarOptions options;
  options.prefixes = {{std::string{each.at("prefix").as_string()}, std::string{each.at("thinkingPrefix").as_string()}}};
  if (const auto* given = object_member(each, "options")) {
    options.inline_form = bool_member(*given, "enableInline").value_or(true);
    options.block_form = bool_member(*given, "enableBlock").value_or(true);
    if (const auto bytes = integer_member(*given, "maxBlockBytes"))
      options.max_block_bytes = static_cast<std::size_t>(*bytes);
  }
  return options;
}

std::vector<Command> extract_case(const json::object& each, const GrammarOptions& options) {
  Extractor extractor{options};
  std::vector<Command> commands;
  const auto add = [&](std::vector<Command> more) {
    for (auto& command : more) commands.push_back(std::move(command));
  };
  if (const auto* chunks = array_member(each, "chunks")) {
    for (const auto& chunk : *chunks) add(extractor.feed(chunk.as_string()));
  } else {
    add(extractor.feed(each.at("input").as_string()));
  }
  add(extractor.finish());
  return commands;
}

void expect_result(const std::string& id, const json::object& result, const json::array& commands) {
  if (const auto* expected = array_member(result, "commands")) {
    EXPECT_EQ(json::serialize(commands), json::serialize(*expected)) << id;
    return;
  }
  const auto min_count = integer_member(result, "commands_min").value_or(0);
  ASSERT_GE(static_cast<std::int64_t>(commands.size()), min_count) << id;
  const auto text = json::serialize(commands);
  const auto* parts = array_member(result, "body_contains");
  if (parts == nullptr) return;
  for (const auto& part : *parts) EXPECT_NE(text.find(std::string{part.as_string()}), std::string::npos) << id;
}

TEST(PublishedCases, EveryTextYieldsPublishedOrBetterResult) {
  for (const auto& value : cases().at("cases").as_array()) {
    const auto& each = value.as_object();
    const auto id = std::string{each.at("id").as_string()};
    const auto* better = object_member(each, "better");
    expect_result(id, better != nullptr ? *better : each.at("expected").as_object(),
                  sends_as_json(extract_case(each, options_of(each))));
  }
}

TEST(PublishedCases, AllPrefixesTogetherYieldSameResult) {
  for (const auto& value : cases().at("cases").as_array()) {
    const auto& each = value.as_object();
    const auto prefix = each.at("prefix").as_string();
    if (!prefix.ends_with("relay:") || each.contains("options")) continue;
    EXPECT_EQ(sends_as_json(extract_case(each, {})), sends_as_json(extract_case(each, options_of(each))))
        << each.at("id");
  }
}

json::object outbox_json(const Command& command) {
  if (const auto* spawn = std::get_if<SpawnCommand>(&command))
    return {{"kind", "spawn"}, {"spawn_name", spawn->name}, {"spawn_cli", spawn->cli}, {"spawn_task", spawn->task}};
  if (const auto* send = std::get_if<SendCommand>(&command)) {
    json::object object{{"kind", name_of(send->kind)}, {"to", send->to}, {"body", send->body}};
    if (send->thread) object["thread"] = *send->thread;
    return object;
  }
  return {};
}

/// As the host does: a file command reads its file, and a file without such a command is read too.
json::array outbox_result(const json::object& each, std::size_t& errors) {
  json::array commands;
  const auto content = string_member(each, "content");
  auto id = string_member(each, "file").value_or("");
  if (id.ends_with(".json")) id.resize(id.size() - 5);
  bool taken = false;
  const auto read_file = [&] {
    const auto command = read_outbox_file(*content);
    if (std::holds_alternative<CommandError>(command))
      ++errors;
    else
      commands.push_back(outbox_json(command));
    taken = true;
  };
  for (const auto& command : extract(each.at("output").as_string())) {
    if (const auto* trigger = std::get_if<SendFileCommand>(&command)) {
      if (content && trigger->id == id) read_file();
    } else if (!std::holds_alternative<CommandError>(command)) {
      commands.push_back(outbox_json(command));
    }
  }
  if (content && !taken) read_file();
  return commands;
}

TEST(PublishedCases, OutboxFilesYieldPublishedOrBetterResult) {
  for (const auto& value : cases().at("outbox_files").as_array()) {
    const auto& each = value.as_object();
    const auto* better = object_member(each, "better");
    const auto& result = better != nullptr ? *better : each.at("expected").as_object();
    std::size_t errors = 0;
    const auto commands = outbox_result(each, errors);
    if (bool_member(result, "error_reported").value_or(false)) {
      EXPECT_EQ(errors, 1U) << each.at("id");
      continue;
    }
    auto expected = result.at("commands").as_array();
    for (auto& command : expected)
      if (command.as_object().contains("spawn_name")) {
        command.as_object().erase("to");
        command.as_object().erase("body");
      }
    EXPECT_EQ(commands, expected) << each.at("id") << " yields " << json::serialize(commands);
  }
}

TEST(PublishedCases, InjectedTextMatchesPublishedExceptImitations) {
  for (const auto& value : cases().at("injection_strings").as_array()) {
    const auto& each = value.as_object();
    const auto& input = each.at("input").as_object();
    InjectedMessage message{.from = *string_member(input, "from"),
                            .id = *string_member(input, "messageId"),
                            .body = *string_member(input, "body"),
                            .thread = string_member(input, "thread").value_or(""),
                            .importance = integer_member(input, "importance"),
                            .to = string_member(input, "originalTo").value_or(""),
                            .attachments = {}};
    if (const auto* data = object_member(input, "data")) {
      if (const auto name = string_member(*data, "senderName")) message.from = *name;
      if (const auto* files = array_member(*data, "attachments"))
        for (const auto& file : *files) message.attachments.push_back(*string_member(file.as_object(), "filePath"));
    }
    const auto id = std::string{each.at("id").as_string()};
    const auto text = format_injected(message);
    if (id.starts_with("already")) {
      EXPECT_TRUE(text.starts_with("Relay message from TestAgent [abc12345]: \"Relay message from Alice")) << text;
    } else {
      EXPECT_EQ(text, each.at("expected").as_string()) << id;
    }
    EXPECT_TRUE(is_injected_line(text)) << id;
  }
}

TEST(PublishedCases, SummaryAndSessionEndBlocks) {
  const auto extract_as = [](const json::value& input, auto type) -> json::value {
    for (const auto& command : extract(input.as_string()))
      if (const auto* found = std::get_if<decltype(type)>(&command)) return found->content;
    return nullptr;
  };
  for (const auto& each : cases().at("summary").as_array())
    EXPECT_EQ(extract_as(each.at("input"), SummaryBlock{}), each.at("expected")) << each.at("input");
  for (const auto& each : cases().at("session_end").as_array())
    EXPECT_EQ(extract_as(each.at("input"), SessionEndBlock{}), each.at("expected")) << each.at("input");
}

TEST(PublishedCases, ControlSequencesAreStripped) {
  for (const auto& value : cases().at("strip_ansi").as_array()) {
    const auto& each = value.as_object();
    EXPECT_EQ(text::strip_control_sequences(each.at("input").as_string()), each.at("expected").as_string());
  }
}

}  // namespace
}  // namespace relay::commands
