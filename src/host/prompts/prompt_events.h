/// Prompts and dialogs as events: permission.requested and question.requested.
///
/// Invariants: texts are truncated; a permission whose event does not have everything that its call affects is `partial`,
///   so no rule approves it.
/// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "adapters/prompt.h"
#include "events/event.h"
#include "profiles/screen_findings.h"

namespace relay::host {

inline constexpr std::size_t kMaxTextBytes = 16 * 1024;
inline constexpr std::size_t kMaxPathBytes = 4096;
inline constexpr std::size_t kMaxNameBytes = 256;

/// The event of a native prompt.
events::Event native_request(const adapters::Prompt& prompt, std::string request);
/// The event of a dialog that is only on the screen. A screen shows only what fits on it, so no rule approves it.
events::Event screen_request(const profiles::ScreenFindings& findings, std::string request);

/// `can_answer` of a request event.
std::optional<bool>& can_answer(events::Event& event);
events::Resolution resolution_of(adapters::PromptAnswer::Decision decision);
/// The subject of the tool call that a prompt is about: its command or its file.
std::string subject_of(const adapters::Prompt& prompt);

std::string truncated(std::string_view text, std::size_t limit);
std::optional<std::string> unless_empty(std::string text);

}  // namespace relay::host
