#include "cli/framework/parse.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <deque>

#include "base/format.h"
#include "base/nearest.h"
#include "cli/framework/completion_facts.h"
#include "cli/framework/help.h"

namespace relay::cli {
namespace {

std::string suggestion(std::string_view word, const std::vector<std::string_view>& names) {
  const auto nearest = nearest_names(word, names, 1);
  return nearest.empty() ? std::string{} : relay::format("; did you mean {}?", nearest.front());
}

Failure unknown_command(std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto* command : command_table()) names.push_back(command->name);
  const auto programs = program_names();
  names.insert(names.end(), programs.begin(), programs.end());
  auto hint = suggestion(word, names);
  if (hint.empty()) hint = "; see: agent-relay --help";
  return fail(relay::format("unknown command \"{}\"{}", word, hint));
}

Failure unknown_option(const Command& command, std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto& option : command.options)
    if (!option.hidden) names.push_back(option.name);
  auto hint = suggestion(word.substr(0, word.find('=')), names);
  if (hint.empty()) hint = relay::format("; see: agent-relay {} --help", command.name);
  return fail(relay::format("{} has no option {}{}", command.name, word, hint));
}

bool is_choice(std::string_view choices, std::string_view value) {
  return relay::format("|{}|", choices).find(relay::format("|{}|", value)) != std::string::npos &&
         value.find('|') == std::string_view::npos;
}

/// The word is probably a misspelled choice.
bool is_misspelled_choice(std::string_view choices, std::string_view word) {
  std::vector<std::string_view> names;
  for (std::size_t begin = 0; begin <= choices.size();) {
    const auto end = std::min(choices.find('|', begin), choices.size());
    names.push_back(choices.substr(begin, end - begin));
    begin = end + 1;
  }
  return !nearest_names(word, names, 1).empty();
}

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

/// An example value.
std::string_view example_of(const Option& option) {
  if (!option.choices.empty()) return option.choices.substr(0, option.choices.find('|'));
  if (option.value == "TIME") return "30s";
  if (option.value == "NAME") return "Alice";
  if (option.value == "N") return "10";
  if (option.value == "PATH") return "/tmp/relay.sock";
  if (option.value == "FILE") return "report.txt";
  return "build";
}

/// Owns the variables that CLI11 writes into.
class CommandParser {
 public:
  explicit CommandParser(const Command& command) : command_{command} {
    app_.set_help_flag("-h,--help", "help");
    app_.allow_extras();  // their error is reported below
    for (const auto& option : command.options) {
      const std::string name{option.name};
      if (option.value.empty())
        flags_.emplace_back(&option, app_.add_flag(name));
      else if (option.repeats)
        values_.emplace_back(&option, app_.add_option(name, lists_.emplace_back())->allow_extra_args(false));
      else
        values_.emplace_back(
            &option,
            app_.add_option(name, texts_.emplace_back())->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
    }
  }

  Result<ParsedCommandLine> parse(std::vector<std::string> words) {
    std::vector<std::string> rest;
    if (command_.takes_rest) {
      const auto own = words.begin() + static_cast<std::ptrdiff_t>(count_own_words(words));
      rest.assign(own != words.end() && *own == "--" ? own + 1 : own, words.end());
      words.erase(own, words.end());
    }
    RELAY_TRY(complete_bare_options(words));
    const auto separated = separated_text(words);
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    try {
      app_.parse(std::move(words));
    } catch (const CLI::CallForHelp&) { return WantsHelp{&command_}; } catch (const CLI::ParseError& error) {
      return parse_error(error.what());
    }
    Run run{&command_, {}};
    for (const auto& [option, parsed] : flags_)
      if (parsed->count() > 0) run.invocation.set(option->name, "true");
    for (const auto& [option, parsed] : values_) {
      if (parsed->count() == 0) continue;
      const auto values = option->repeats ? parsed->results() : std::vector{parsed->as<std::string>()};
      for (const auto& value : values) {
        if (is_option(value)) return needs_value(*option);  // `--from --wait`
        if (!option->choices.empty() && !is_choice(option->choices, value))
          return fail(relay::format("{} cannot be \"{}\": choose one of {}", option->name, value, option->choices));
      }
      run.invocation.set(option->name, values);
    }
    if (command_.takes_rest) {
      for (auto& word : rest) run.invocation.add_argument(std::move(word));
      if (rest.empty() && !command_.arguments.empty()) return needs(command_.arguments.front());
      return run;
    }
    auto parsed = take_arguments(std::move(run));
    if (parsed && !separated.empty())
      return fail(
          relay::format("\"{}\" is separated from the rest of the text by options; put the text in one place, "
                        "in quotes",
                        separated));
    return parsed;
  }

 private:
  /// Turns `--wait` into `--wait=delivered`, and `--wait seen` into `--wait=seen`.
  [[nodiscard]] Result<void> complete_bare_options(std::vector<std::string>& words) const {
    std::size_t arguments = 0;  // before the current word
    for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
      const auto* option = find_option(words[at]);
      if (option == nullptr || option->implicit_value.empty()) {
        if (!looks_like_option(words[at])) ++arguments;
        if (option != nullptr && !option->value.empty()) ++at;
        continue;
      }
      const bool followed = at + 1 < words.size() && !looks_like_option(words[at + 1]);
      const bool chosen = followed && is_choice(option->choices, words[at + 1]);
      if (followed && !chosen && !is_argument(*option, arguments, words, at + 1))
        return fail(relay::format("{} cannot be \"{}\": choose one of {}, or put {} last", option->name, words[at + 1],
                                  option->choices, option->name));
      words[at] += relay::format("={}", chosen ? std::string_view{words[at + 1]} : option->implicit_value);
      if (chosen) words.erase(words.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    return {};
  }

  /// The word after an option with an optional value can only be an argument: one before the text, or the whole text.
  [[nodiscard]] bool is_argument(const Option& option, std::size_t arguments_before,
                                 const std::vector<std::string>& words, std::size_t at) const {
    if (is_choice(option.wrong_values, words[at]) || is_misspelled_choice(option.choices, words[at])) return false;
    const auto text = text_index();
    if (arguments_before != text) return arguments_before < text;
    return at + 1 == words.size() || looks_like_option(words[at + 1]);
  }

  /// The first word of the text that follows an option after the text has started; empty when there is none.
  [[nodiscard]] std::string separated_text(const std::vector<std::string>& words) const {
    std::size_t arguments = 0;
    bool separated = false;
    for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
      if (!looks_like_option(words[at])) {
        if (separated) return words[at];
        ++arguments;
        continue;
      }
      separated = arguments > text_index();
      if (const auto* option = find_option(words[at]); option != nullptr && !option->value.empty()) ++at;
    }
    return {};
  }

  [[nodiscard]] const Option* find_option(std::string_view word) const {
    const auto found = std::ranges::find(command_.options, word, &Option::name);
    return found == command_.options.end() ? nullptr : &*found;
  }

  /// The index of the argument that is a text; SIZE_MAX when there is none.
  [[nodiscard]] std::size_t text_index() const {
    const auto found = std::ranges::find_if(command_.arguments, &Argument::is_text);
    return found == command_.arguments.end() ? SIZE_MAX : static_cast<std::size_t>(found - command_.arguments.begin());
  }

  /// The number of words before the first that is neither an option nor its value; replaces `-n` by `--name` there.
  [[nodiscard]] std::size_t count_own_words(std::vector<std::string>& words) const {
    std::size_t count = 0;
    while (count < words.size() && words[count].size() > 1 && words[count].front() == '-' && words[count] != "--") {
      auto& word = words[count++];
      if (word == "-n") word = "--name";
      for (const auto& option : command_.options)
        if (option.name == word && !option.value.empty() && count < words.size()) ++count;
    }
    return count;
  }

  [[nodiscard]] Failure needs(const Argument& argument) const {
    return fail(relay::format("{} needs {}; usage: agent-relay {}", command_.name, argument.name, usage_of(command_)));
  }

  /// CLI11 starts its message with the option name; the rest is about value types that are not used here.
  [[nodiscard]] Failure parse_error(std::string_view what) const {
    for (const auto& [option, parsed] : values_)
      if (what.substr(0, what.find(':')) == option->name) return needs_value(*option);
    return fail(relay::format("{}: {}; see: agent-relay {} --help", command_.name, what, command_.name));
  }

  static Failure needs_value(const Option& option) {
    return fail(
        relay::format("{} needs {}, for example: {} {}", option.name, option.value, option.name, example_of(option)));
  }

  [[nodiscard]] bool is_option(std::string_view word) const {
    word = word.substr(0, word.find('='));
    return std::any_of(command_.options.begin(), command_.options.end(),
                       [&](const Option& option) { return option.name == word; });
  }

  Result<ParsedCommandLine> take_arguments(Run run) {
    std::size_t required = 0;
    bool many = false;
    for (const auto& argument : command_.arguments) {
      if (argument.arity == Arity::One || argument.arity == Arity::Many) ++required;
      if (argument.arity == Arity::Many || argument.arity == Arity::Any) many = true;
    }
    bool after_dashes = false;  // after `--`
    std::size_t count = 0;
    for (const auto& word : app_.remaining()) {
      if (!after_dashes && word == "--") {
        after_dashes = true;
        continue;
      }
      if (!after_dashes && word.size() > 1 && word.front() == '-') return unknown_option(command_, word);
      if (++count > command_.arguments.size() && !many)
        return fail(
            relay::format("{} does not take \"{}\"; usage: agent-relay {}", command_.name, word, usage_of(command_)));
      run.invocation.add_argument(word);
    }
    if (count < required) return needs(command_.arguments[count]);
    return run;
  }

  const Command& command_;
  CLI::App app_;
  std::deque<std::string> texts_;  // stable addresses
  std::deque<std::vector<std::string>> lists_;
  std::vector<std::pair<const Option*, CLI::Option*>> flags_, values_;
};

}  // namespace

Result<ParsedCommandLine> parse_command_line(const std::vector<std::string>& words, const IsAgent& is_agent) {
  if (words.empty()) return WantsHelp{};
  const auto& first = words.front();
  if (first == "--help" || first == "-h") return WantsHelp{};
  if (first == "--version" || first == "-V" || first == "version") return WantsVersion{};
  if (first == "help") {
    if (words.size() == 1 || words[1] == "--help" || words[1] == "-h") return WantsHelp{};
    const auto* command = find_command(words[1]);
    return command != nullptr ? Result<ParsedCommandLine>{WantsHelp{command}} : unknown_command(words[1]);
  }
  if (first == "-n" || first == "--name" || first == "run") {
    auto rest = std::vector<std::string>{words.begin() + (first == "run" ? 1 : 0), words.end()};
    if (first != "run" && words.size() > 3 && words[2] == "run") rest.erase(rest.begin() + 2);
    return CommandParser{*find_command("run")}.parse(std::move(rest));
  }
  if (first.starts_with('-')) return fail(relay::format("unknown option {}; see: agent-relay --help", first));
  const auto* command = find_command(first);
  if (command == nullptr && is_agent && is_agent(first)) return CommandParser{*find_command("run")}.parse(words);
  if (command == nullptr) return unknown_command(first);
  return CommandParser{*command}.parse({words.begin() + 1, words.end()});
}

}  // namespace relay::cli
