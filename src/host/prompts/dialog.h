/// The dialog on an agent's screen as a value that keys can answer: its text, its choices, the one that is marked.
///
/// Two dialogs are the same when the text above their choices and the labels of the choices are the same. The position
/// of the mark is not part of it.
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
  std::string about = {};  // its subject, without blanks: unchanged when rows around it change
  std::string whole = {};  // all it says and offers
  bool certain = false;    // nothing of it is missing or may belong to something else
  std::string body = {};   // its text as drawn
  std::vector<profiles::DialogChoice> choices = {};

  /// The choice that Enter takes; none when that cannot be seen.
  [[nodiscard]] std::optional<std::size_t> marked() const;
};

/// None when no known dialog is on the screen.
std::optional<Dialog> dialog_in(const profiles::ScreenFindings& findings);

/// Each choice has keys of its own, whatever is marked.
bool has_own_keys(const Dialog& dialog);

/// Keys can give each answer; only where the question is certain.
bool can_press(const Dialog& dialog, profiles::DialogKeys press);

/// The choice for that answer; the error is for the caller that answers.
Result<std::size_t> choice_for(const Dialog& dialog, const adapters::PromptAnswer& reply);

/// The body without the lines that repeat the subject of a title: `? Shell  ls`, and below it `ls` in a frame. Two
/// blanks divide a title from its subject.
std::string said_once(const std::string& body);

/// True when this text, in one line or wrapped, is the subject of the dialog.
bool shows(const Dialog& dialog, std::string_view subject);

}  // namespace relay::host
