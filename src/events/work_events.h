/// What an agent does: items of its work, tokens, files, commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "schema/schema.h"

namespace relay::events {

inline constexpr std::int64_t kMaxContentBytes = 64 << 10;  // of a delta, a result, a diff; longer ones are cut

inline constexpr std::int64_t kMaxTokens = 1'000'000'000'000;  // of one answer: sums stay far from overflowing

enum class ItemType : std::uint8_t { Message, ToolCall, Thinking, Plan, Search, TestRun, Build };
enum class DeltaType : std::uint8_t { Text, ToolInput, ToolOutput };

struct Delta {
  DeltaType type{};
  std::string content = {};
};

struct ItemStarted {
  std::string item_id = {};
  ItemType item_type{};
  WallMs started_at = 0;
  std::optional<json::object> metadata = {};
};

struct ItemDelta {
  std::string item_id = {};
  Delta delta = {};
};

struct ItemCompleted {
  std::string item_id = {};
  WallMs completed_at = 0;
  std::optional<json::object> result = {};
  std::int64_t duration = 0;
};

struct TokensUsed {
  std::string agent_name = {};
  std::string model = {};
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::optional<std::int64_t> cache_read_tokens = {};
  std::optional<std::int64_t> cache_write_tokens = {};
  std::optional<double> estimated_cost_usd = {};
  std::optional<std::int64_t> reasoning_tokens = {};
  std::optional<std::string> request_id = {};
  std::optional<std::string> source = {};
  std::optional<std::string> thread = {};
};

enum class FileOperationKind : std::uint8_t { Read, Write, Edit, Delete, Create };

struct FileOperation {
  FileOperationKind operation{};
  std::string file_path = {};
  std::optional<std::int64_t> lines_changed = {};
  std::optional<std::string> diff = {};
};

struct CommandExecuted {
  std::string command = {};
  std::optional<std::int64_t> exit_code = {};
  std::int64_t duration = 0;
  std::optional<std::string> stdout_text = {};
  std::optional<std::string> stderr_text = {};
};

}  // namespace relay::events

namespace relay::schema {

template <>
inline constexpr auto kChoices<events::ItemType> =
    std::array{Choice{events::ItemType::Message, "message"},   Choice{events::ItemType::ToolCall, "tool_call"},
               Choice{events::ItemType::Thinking, "thinking"}, Choice{events::ItemType::Plan, "plan"},
               Choice{events::ItemType::Search, "search"},     Choice{events::ItemType::TestRun, "test_run"},
               Choice{events::ItemType::Build, "build"}};

template <>
inline constexpr auto kChoices<events::DeltaType> =
    std::array{Choice{events::DeltaType::Text, "text"}, Choice{events::DeltaType::ToolInput, "tool_input"},
               Choice{events::DeltaType::ToolOutput, "tool_output"}};

template <>
inline constexpr auto kChoices<events::FileOperationKind> =
    std::array{Choice{events::FileOperationKind::Read, "read"}, Choice{events::FileOperationKind::Write, "write"},
               Choice{events::FileOperationKind::Edit, "edit"}, Choice{events::FileOperationKind::Delete, "delete"},
               Choice{events::FileOperationKind::Create, "create"}};

template <>
inline constexpr auto kObject<events::Delta> = object(
    "Delta", "A part of an item.", member<&events::Delta::type>("type", "the kind of content"),
    member<&events::Delta::content>("content", "the content; cut when it is long", {.max = events::kMaxContentBytes}));

template <>
inline constexpr auto kObject<events::ItemStarted> =
    object("ItemStarted", "The agent started an item of work.",
           member<&events::ItemStarted::item_id>("itemId", "its id within the session", {.min = 1, .max = 256}),
           member<&events::ItemStarted::item_type>("itemType", "the kind of item"),
           member<&events::ItemStarted::started_at>("startedAt", "when, in Unix milliseconds"),
           member<&events::ItemStarted::metadata>("metadata", "of a tool call: `tool` and its input"));

template <>
inline constexpr auto kObject<events::ItemDelta> =
    object("ItemDelta", "New content of an item.",
           member<&events::ItemDelta::item_id>("itemId", "the id of the item", {.min = 1, .max = 256}),
           member<&events::ItemDelta::delta>("delta", "the content"));

template <>
inline constexpr auto kObject<events::ItemCompleted> =
    object("ItemCompleted", "The agent finished an item of work.",
           member<&events::ItemCompleted::item_id>("itemId", "the id of the item", {.min = 1, .max = 256}),
           member<&events::ItemCompleted::completed_at>("completedAt", "when, in Unix milliseconds"),
           member<&events::ItemCompleted::result>("result", "the result; of a tool call: `failed`"),
           member<&events::ItemCompleted::duration>("duration", "milliseconds since it started", {.min = 0}));

template <>
inline constexpr auto kObject<events::TokensUsed> = object(
    "TokensUsed", "The tokens of one model response. Counts do not overlap, but reasoning is part of the output.",
    member<&events::TokensUsed::agent_name>("agentName", "the agent that uses the model"),
    member<&events::TokensUsed::model>("model", "the model", {.max = 256}),
    member<&events::TokensUsed::input_tokens>("inputTokens", "input tokens that were not in the cache",
                                              {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::output_tokens>("outputTokens", "output tokens", {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::cache_read_tokens>("cacheReadTokens", "input tokens read from the cache",
                                                   {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::cache_write_tokens>("cacheWriteTokens", "input tokens written to the cache",
                                                    {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::estimated_cost_usd>("estimatedCostUsd", "dollars, when the agent itself reports them"),
    member<&events::TokensUsed::reasoning_tokens>("reasoningTokens", "reasoning tokens, a part of the output",
                                                  {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::request_id>("requestId", "the id of the response; a second count replaces the first",
                                            {.max = 256}),
    member<&events::TokensUsed::source>("source", "the source of the count: transcript, hook, server, screen",
                                        {.max = 64}),
    member<&events::TokensUsed::thread>("thread", "the message thread the tokens were spent on", {.max = 256}));

template <>
inline constexpr auto kObject<events::FileOperation> = object(
    "FileOperation", "The agent read or changed a file.",
    member<&events::FileOperation::operation>("operation", "the operation"),
    member<&events::FileOperation::file_path>("filePath", "the file", {.min = 1, .max = 4096}),
    member<&events::FileOperation::lines_changed>("linesChanged", "the number of changed lines, if reported"),
    member<&events::FileOperation::diff>("diff", "a unified diff, if reported", {.max = events::kMaxContentBytes}));

template <>
inline constexpr auto kObject<events::CommandExecuted> = object(
    "CommandExecuted", "The agent ran a command.",
    member<&events::CommandExecuted::command>("command", "the command line", {.max = events::kMaxContentBytes}),
    member<&events::CommandExecuted::exit_code>("exitCode", "the exit code; absent when the agent does not report it"),
    member<&events::CommandExecuted::duration>("duration", "milliseconds", {.min = 0}),
    member<&events::CommandExecuted::stdout_text>("stdout", "the start of its standard output",
                                                  {.max = events::kMaxContentBytes}),
    member<&events::CommandExecuted::stderr_text>("stderr", "the start of its standard error",
                                                  {.max = events::kMaxContentBytes}));

}  // namespace relay::schema
