/// The dialog on an agent's screen as a value: its text, its choices and the marked one.
///
/// Two dialogs are the same when their text and the labels of their choices are the same; the mark does not count.
/// Pure values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "adapters/prompt.h"
#include "base/result.h"
#include "profiles/profile.h"
#include "profiles/screen_findings.h"

namespace relay::host {

struct Dialog {
  adapters::PromptKind kind = adapters::PromptKind::Permission;
  std::string subject = {};    // its subject, without blanks; stays when other rows change
  std::string full_text = {};  // its text and its choices
  bool certain = false;        // nothing is missing or may belong to another part of the screen
  std::string body = {};       // its text as drawn
  std::vector<profiles::DialogChoice> choices = {};

  /// The choice that Enter selects; none when it is not visible.
  [[nodiscard]] std::optional<std::size_t> marked() const;
};

/// None without a known dialog.
std::optional<Dialog> dialog_in(const profiles::ScreenFindings& findings);

/// Each choice has its own key, independent of the mark.
bool has_shortcut_keys(const Dialog& dialog);

/// Keys can give each answer, and the dialog is certain.
bool can_press(const Dialog& dialog, profiles::DialogKeys press);

/// The choice for that answer, or an error for the caller.
Result<std::size_t> choice_for(const Dialog& dialog, const adapters::PromptAnswer& reply);

/// The body without lines that repeat the subject of a title: `? Shell  ls`, and below it `ls` in a frame. Two blanks
/// separate a title from its subject.
std::string without_repeated_subject(const std::string& body);

/// True when this text, in one line or wrapped, is the subject of the dialog.
bool has_subject(const Dialog& dialog, std::string_view subject);

}  // namespace relay::host
