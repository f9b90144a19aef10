/// One agent CLI as data: how to recognize its state, output and dialogs, and how to type into it.
///
/// Users write profiles (agents/<cli>/profile.toml, or `profiles/` in their home directory); they are checked when
/// read, then constant. docs/spec/profiles.md describes each field.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "profiles/pattern_detector.h"

namespace relay::profiles {

/// The kind of a row of the conversation.
enum class RowKind : std::uint8_t {
  Assistant,  // the agent's text
  User,       // the user's input
  Tool,       // input and output of a tool
  Chrome,     // frames, notices, spinners
};

/// The style of a row's first visible character.
enum class CharacterStyle : std::uint8_t { Any, Bold, Dim, Plain };

/// Rules are tried in order; the first match starts a block of its kind. Rows without a match continue the block above
/// them if they are indented as far as its text.
struct RowRule {
  RowKind kind = RowKind::Chrome;
  std::string pattern = {};
  CharacterStyle style = CharacterStyle::Any;
  bool screen_reader = false;       // a mode for screen readers: the mark is a word, and later rows are not indented
  std::vector<RowKind> joins = {};  // the row has no mark: it continues a block of these kinds directly above
  std::string above = {};           // a row above, with no empty row between
  std::string until = {};           // all rows below belong to this one, up to a match or the user's next input
};

/// The composer, where the user types. Searched from the bottom of the screen upwards.
struct ComposerRule {
  std::string first = {};         // its first row; a group is the typed text
  std::string exclude = {};       // a row that matches `first` but belongs to a dialog
  std::string continuation = {};  // later rows; empty: every row up to `below`
  std::string above = {};         // the row above it; in line mode, any row above with no empty row between
  std::string below = {};         // the row that closes it
  std::string placeholder = {};   // text that is not a draft
  std::string decoration = {};    // rows inside it that are not a draft
  bool dim_is_placeholder = true;
  bool line_mode = false;  // a line-mode program: the composer exists only while the cursor is in it
};

/// Patterns of the window's title.
struct TitleRules {
  std::string idle = {}, working = {}, blocked = {};
};

struct TypingRules {
  Millis submit_gap{300};                 // between the text and Enter
  std::string interrupt = {};             // bytes that stop a turn; empty: typing cannot stop it
  std::uint32_t max_paste_bytes = 8'000;  // longer bodies are written to a file
};

/// How keys select a choice of a dialog.
enum class DialogKeys : std::uint8_t {
  None,    // the user answers dialogs
  Cursor,  // up and down move a cursor, Enter selects the choice
  Letter,  // the letter that the choice names, then Enter
};

/// Dialogs that are answered by keys where no native interface exists.
struct DialogRules {
  DialogKeys keys = DialogKeys::None;
  std::string approve = {};  // the label of the choice that approves once
  std::string deny = {};     // the label of the choice that denies
  std::string first_row =
      {};  // the first row of a dialog; in line mode a dialog is everything since the user's last input
  std::string footer = {};  // the rows below its choices; any other row there makes the dialog doubtful
};

/// How a setup dialog is reported.
enum class SetupKind : std::uint8_t { Question, Permission };

/// A choice that is selected by a key: "Press Enter to continue".
struct SetupOption {
  std::string label = {};
  std::string key = {};  // by name, `Enter` or `S-Tab`
};

/// A dialog of the agent about itself, before or in place of its composer. Patterns match whole rows, blanks included.
struct SetupRule {
  std::string name = {};
  SetupKind kind = SetupKind::Question;
  std::string text = {};                  // reported in place of the dialog's text, which may contain a secret
  std::string first = {};                 // its first row
  std::string choice = {};                // a row that offers a choice; the group is the label
  std::string mark = {};                  // how such a row looks while Enter selects it
  std::string below = {};                 // the rows below its choices; no other row may be there
  std::string approve = {}, deny = {};    // of a permission: the labels
  std::vector<SetupOption> options = {};  // without `choice`; neither: the user answers it on the agent's screen
};

/// How the relay's instructions reach the agent at its start, without text on its screen. `{text}`, `{quoted}` and
/// `{file}` are substituted; nothing is done if both lists are empty.
struct Instructions {
  std::vector<std::string> arguments = {};
  std::vector<std::pair<std::string, std::string>> environment = {};
};

struct Profile {
  std::string name = {};
  std::string title = {};                  // for display
  std::vector<std::string> commands = {};  // names of its programs
  std::vector<std::string> tested = {};    // tested versions of the program
  bool reports_status = false;             // OSC 7501
  TitleRules titles = {};
  ComposerRule composer = {};
  ComposerRule screen_reader_composer = {};  // of a mode for screen readers; tried when the other is not found
  std::vector<RowRule> rows = {};
  std::uint32_t margin = 0;                     // columns that stay free at the right when the program wraps
  std::uint32_t indent = 2;                     // columns of text behind a block's mark
  bool wraps = true;                            // false: the terminal wraps, so every line break is intended
  std::vector<std::string> working_rows = {};   // rows that are on the screen only while it works
  std::vector<std::string> dialog_rows = {};    // rows that are on the screen only while a dialog is open
  std::vector<std::string> question_rows = {};  // the cursor's row while a question is open in it
  std::vector<std::string> tool_rows = {};      // the last row while a tool runs
  std::vector<std::string> start_page = {};     // rows above the composer, only while no conversation is visible
  std::vector<std::string> ready = {};  // a row that appears once it accepts prompts; its composer may appear earlier
  std::vector<profiles::Pattern> patterns = {};  // permission, question, usage, limit
  TypingRules typing = {};
  DialogRules dialogs = {};
  std::vector<SetupRule> setup = {};
  Instructions instructions = {};
  std::string model_option = {};  // the option for the model on the command line; empty: none
};

}  // namespace relay::profiles
