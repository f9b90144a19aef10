/// The dialog on an agent's screen as something that can be answered by keys: what it says, what it offers, what is marked.
///
/// Two dialogs are the same when what they say above their choices, and what these are called, is the same. Where the mark
/// stands is not part of it.
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
  std::string about = {};  // what it is about, without blanks: stays although rows around it change
  std::string whole = {};  // all it says and offers
  bool certain = false;    // and nothing of it is missing, or may belong to something else
  std::string body = {};   // what it says, as it stands there
  std::vector<profiles::DialogChoice> choices = {};

  /// The one that Enter would take; none when that cannot be seen.
  [[nodiscard]] std::optional<std::size_t> marked() const;
};

/// None when no dialog that we know is there.
std::optional<Dialog> dialog_in(const profiles::ScreenFindings& findings);

/// Each choice has keys of its own, whatever is marked.
bool has_own_keys(const Dialog& dialog);

/// Can each answer be given by keys? Only where it is certain what is asked.
bool can_press(const Dialog& dialog, profiles::DialogKeys press);

/// Which choice says that; the error is for whoever answers.
Result<std::size_t> choice_for(const Dialog& dialog, const adapters::PromptAnswer& reply);

/// The body without the lines that repeat the subject of a title: `? Shell  ls`, and below it `ls` in a frame. Two blanks
/// divide a title from its subject.
std::string said_once(const std::string& body);

/// Is this, as one line or several that were wrapped, what the dialog says it is about?
bool shows(const Dialog& dialog, std::string_view subject);

}  // namespace relay::host
