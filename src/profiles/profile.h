/// One agent CLI as data: how to tell what it is doing, where it writes, how to type into it, how it ends.
///
/// Written by people (agents/<cli>/profile.toml, or `profiles/` in the user's home), checked when read, then constant.
/// docs/spec/profiles.md says what each field means.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "profiles/pattern_detector.h"

namespace relay::profiles {

/// Whose words a row of the conversation holds.
enum class RowKind : std::uint8_t {
  Assistant,  // the agent's own
  User,       // the person's
  Tool,       // what a tool was asked and what it printed
  Chrome,     // frames, notices, spinners
};

/// How the first visible character of a row must look.
enum class CharacterStyle : std::uint8_t { Any, Bold, Dim, Plain };

/// Rules are tried in order; the first that fits begins a block of its kind. Rows that fit none go on with the block
/// above them if they are indented as far as its text.
struct RowRule {
  RowKind kind = RowKind::Chrome;
  std::string pattern = {};
  CharacterStyle look = CharacterStyle::Any;
  bool screen_reader = false;       // a mode for screen readers: the mark is a word, and further rows are not indented
  std::vector<RowKind> joins = {};  // has no mark of its own: goes on with a block of these kinds directly above
  std::string above = {};           // a row that stands above, with no empty one between
  std::string until = {};  // the rows below belong to it, whatever they look like, up to this one or the person's next
};

/// Where the person types. Found from the bottom of the screen upwards.
struct ComposerRule {
  std::string first = {};         // its first row; a group is what was typed there
  std::string exclude = {};       // a row that looks like the first one and is part of a dialog
  std::string continuation = {};  // further rows; none: every row up to `below`
  std::string above = {};  // the row above it, when that is certain; of a line, some row without an empty one between
  std::string below = {};  // the row that closes it
  std::string placeholder = {};  // text that is no draft
  std::string decoration = {};   // rows inside it that are no draft
  bool dim_is_placeholder = true;
  bool line_mode = false;  // a prompt of a line-mode program: it is there only while the cursor stands in it
};

/// Words in the window's title.
struct TitleRules {
  std::string idle = {}, working = {}, blocked = {};
};

struct TypingRules {
  Millis submit_gap{300};                 // between the text and Enter
  std::string interrupt = {};             // bytes that stop a turn; empty: it cannot be stopped by typing
  std::uint32_t max_paste_bytes = 8'000;  // longer bodies go by file
};

/// How a choice of a dialog is taken by keys.
enum class DialogKeys : std::uint8_t {
  None,    // it is not
  Cursor,  // up and down move a mark, Enter takes what is marked
  Letter,  // the letter that the choice names, and Enter
};

/// Its dialogs, answered by keys where there is no better way.
struct DialogRules {
  DialogKeys keys = DialogKeys::None;
  std::string approve = {};    // the label of the choice that allows it this once
  std::string deny = {};       // and of the one that refuses it
  std::string first_row = {};  // a dialog's first row; of a line-mode program all since the person's last words is one
  std::string footer =
      {};  // the rows below its choices; anything else there is not a part of it, and makes it doubtful
};

/// What a setup dialog is told as.
enum class SetupKind : std::uint8_t { Question, Permission };

/// A choice that is taken by a key of its own: "Press Enter to continue".
struct SetupOption {
  std::string label = {};
  std::string key = {};  // by its name, `Enter` or `S-Tab`
};

/// A dialog of the agent about itself, before or in place of its composer. Patterns are for whole rows, blanks included.
struct SetupRule {
  std::string name = {};
  SetupKind kind = SetupKind::Question;
  std::string text = {};                  // what is told in place of what it says: a secret may be typed there
  std::string first = {};                 // its first row
  std::string choice = {};                // a row that offers something; the group is the label
  std::string mark = {};                  // how such a row looks while Enter takes it
  std::string below = {};                 // the rows below its choices; nothing else may stand there
  std::string approve = {}, deny = {};    // of a permission: the labels
  std::vector<SetupOption> options = {};  // without `choice`; neither: it is answered at its own screen
};

/// How it learns of the relay when it starts, without a word on its screen. `{text}`, `{quoted}` and `{file}` are filled
/// in; nothing is done where both lists are empty.
struct Instructions {
  std::vector<std::string> arguments = {};
  std::vector<std::pair<std::string, std::string>> environment = {};
};

struct Profile {
  std::string name = {};
  std::string title = {};                  // for people
  std::vector<std::string> commands = {};  // programs it is for
  std::vector<std::string> tested = {};    // versions of the program it was tested with
  bool reports_status = false;             // OSC 7501
  TitleRules titles = {};
  ComposerRule composer = {};
  ComposerRule screen_reader_composer = {};  // in a mode for screen readers; looked for when the other is not there
  std::vector<RowRule> rows = {};
  std::uint32_t margin = 0;                     // columns it leaves free at the right when it wraps
  std::uint32_t indent = 2;                     // columns of text behind a block's mark
  bool wraps = true;                            // false: leaves that to the terminal, every break it makes is meant
  std::vector<std::string> working_rows = {};   // rows that stand on the screen only while it works
  std::vector<std::string> dialog_rows = {};    // rows that stand on the screen only while it asks
  std::vector<std::string> question_rows = {};  // the cursor's row while a question waits in it
  std::vector<std::string> tool_rows = {};      // the last row while a tool runs
  std::vector<std::string> start_page = {};     // rows above the composer, only while no conversation is shown
  std::vector<std::string> ready = {};  // a row it draws once it takes prompts; its composer may be there before
  std::vector<profiles::Pattern> patterns = {};  // permission, question, usage, limit
  TypingRules typing = {};
  DialogRules dialogs = {};
  std::vector<SetupRule> setup = {};
  Instructions instructions = {};
  std::string model_option = {};  // before a model's name on its command line; empty: it has none
};

}  // namespace relay::profiles
