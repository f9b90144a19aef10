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
    "Delta", "A piece of an item.", member<&events::Delta::type>("type", "of what kind"),
    member<&events::Delta::content>("content", "the piece; cut when it is long", {.max = events::kMaxContentBytes}));

template <>
inline constexpr auto kObject<events::ItemStarted> =
    object("ItemStarted", "The agent began with something.",
           member<&events::ItemStarted::item_id>("itemId", "names it within the session", {.min = 1, .max = 256}),
           member<&events::ItemStarted::item_type>("itemType", "what it is"),
           member<&events::ItemStarted::started_at>("startedAt", "when, in Unix milliseconds"),
           member<&events::ItemStarted::metadata>("metadata", "of a tool call: `tool`, and what it was given"));

template <>
inline constexpr auto kObject<events::ItemDelta> =
    object("ItemDelta", "Something of an item became known.",
           member<&events::ItemDelta::item_id>("itemId", "of which item", {.min = 1, .max = 256}),
           member<&events::ItemDelta::delta>("delta", "what"));

template <>
inline constexpr auto kObject<events::ItemCompleted> =
    object("ItemCompleted", "The agent is done with something.",
           member<&events::ItemCompleted::item_id>("itemId", "which item", {.min = 1, .max = 256}),
           member<&events::ItemCompleted::completed_at>("completedAt", "when, in Unix milliseconds"),
           member<&events::ItemCompleted::result>("result", "what came of it; of a tool call: `failed`"),
           member<&events::ItemCompleted::duration>("duration", "milliseconds since it began", {.min = 0}));

template <>
inline constexpr auto kObject<events::TokensUsed> = object(
    "TokensUsed", "An answer of a model was counted. Counts do not overlap, but reasoning is part of the output.",
    member<&events::TokensUsed::agent_name>("agentName", "whose model"),
    member<&events::TokensUsed::model>("model", "which model", {.max = 256}),
    member<&events::TokensUsed::input_tokens>("inputTokens", "read for the first time",
                                              {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::output_tokens>("outputTokens", "written", {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::cache_read_tokens>("cacheReadTokens", "read from the cache",
                                                   {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::cache_write_tokens>("cacheWriteTokens", "put into the cache",
                                                    {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::estimated_cost_usd>("estimatedCostUsd", "dollars, when the agent itself says so"),
    member<&events::TokensUsed::reasoning_tokens>("reasoningTokens", "of the output, what was thought",
                                                  {.min = 0, .max = events::kMaxTokens}),
    member<&events::TokensUsed::request_id>(
        "requestId", "names the answer; counted again it replaces the earlier count", {.max = 256}),
    member<&events::TokensUsed::source>("source", "how it is known: transcript, hook, server, screen", {.max = 64}),
    member<&events::TokensUsed::thread>("thread", "the thread that it was spent for", {.max = 256}));

template <>
inline constexpr auto kObject<events::FileOperation> = object(
    "FileOperation", "The agent read or changed a file.",
    member<&events::FileOperation::operation>("operation", "what it did"),
    member<&events::FileOperation::file_path>("filePath", "to which file", {.min = 1, .max = 4096}),
    member<&events::FileOperation::lines_changed>("linesChanged", "how many lines, when it is known"),
    member<&events::FileOperation::diff>("diff", "unified, when it is known", {.max = events::kMaxContentBytes}));

template <>
inline constexpr auto kObject<events::CommandExecuted> =
    object("CommandExecuted", "The agent ran a command.",
           member<&events::CommandExecuted::command>("command", "as it was given", {.max = events::kMaxContentBytes}),
           member<&events::CommandExecuted::exit_code>("exitCode", "how it ended; absent when the agent does not tell"),
           member<&events::CommandExecuted::duration>("duration", "milliseconds", {.min = 0}),
           member<&events::CommandExecuted::stdout_text>("stdout", "the beginning of what it printed",
                                                         {.max = events::kMaxContentBytes}),
           member<&events::CommandExecuted::stderr_text>("stderr", "the same of its errors",
                                                         {.max = events::kMaxContentBytes}));

}  // namespace relay::schema
