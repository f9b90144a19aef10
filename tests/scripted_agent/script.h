/// The script of the agent: its replies and moments, from a JSON file. README.md has an example.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace relay::scripted_agent {

struct Dialog {
  enum class Kind : std::uint8_t { Permission, Question };
  Kind kind = Kind::Permission;
  std::string title;
  std::vector<std::string> options;
};

/// An event that happens once at a given point. A dialog leaves the text in the composer.
struct Moment {
  enum class When : std::uint8_t {
    Start,
    BeforePaste,  // the paste falls into the dialog
    AfterPaste,
  };
  When when = When::Start;
  Millis after{0};
  std::optional<Dialog> dialog;
  std::optional<int> exit_code;  // instead of a dialog: the agent exits
};

struct Answer {
  std::string reply = "You said: {text}";  // {text} is the prompt, {answer} the chosen option
  std::string denied = "I did not do it.";
  std::optional<Dialog> dialog;      // opens before the reply
  std::optional<Millis> work;        // before anything else; else the program's --work-ms
  std::size_t chunk_characters = 0;  // 0: all at once
  Millis chunk_pause{30};
  std::optional<int> exit_code;  // the agent exits after the reply
};

struct Rule {
  enum class Match : std::uint8_t { Contains, Regex };
  Match match = Match::Contains;
  std::string pattern;
  Answer answer;
};

struct Script {
  std::vector<Rule> rules;
  Answer default_answer;
  std::vector<Moment> moments;

  [[nodiscard]] const Answer& find_answer(std::string_view prompt) const;
};

/// An error names the rule and its fault, including a wrong regular expression.
Result<Script> parse_script(std::string_view json_text);

}  // namespace relay::scripted_agent
