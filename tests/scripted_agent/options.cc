#include "scripted_agent/options.h"

#include <charconv>

#include "base/format.h"

namespace relay::scripted_agent {

const char* const kUsage =
    "usage: scripted_agent [--script FILE] [--log FILE] [--work-ms N] [--alternate] [--no-paste] [--status] "
    "[--titles]\n"
    "                      [--swallow-enter N] [--burst-ms N] [--fold N] [--stubborn]\n";

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    const auto value = [&]() -> Result<std::string> {
      if (i + 1 == arguments.size()) return fail(format("{} needs a value", word));
      return arguments[++i];
    };
    const auto number = [&]() -> Result<std::uint32_t> {
      const auto text = RELAY_TRY(value());
      std::uint32_t parsed = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
      if (error != std::errc{} || end != text.data() + text.size()) return fail(format("'{}' is no number", text));
      return parsed;
    };
    if (word == "--alternate")
      options.surface = Options::Surface::Alternate;
    else if (word == "--no-paste")
      options.paste = Options::Paste::Unknown;
    else if (word == "--status")
      options.status = Options::Show::Yes;
    else if (word == "--titles")
      options.titles = Options::Show::Yes;
    else if (word == "--stubborn")
      options.on_terminate = Options::OnTerminate::Ignore;
    else if (word == "--swallow-enter")
      options.swallowed_enters = RELAY_TRY(number());
    else if (word == "--fold")
      options.fold = RELAY_TRY(number());
    else if (word == "--work-ms")
      options.work = Millis{RELAY_TRY(number())};
    else if (word == "--burst-ms")
      options.burst = Millis{RELAY_TRY(number())};
    else if (word == "--script")
      options.script_path = RELAY_TRY(value());
    else if (word == "--log")
      options.log_path = RELAY_TRY(value());
    else
      return fail(format("unknown option {}", word));
  }
  return options;
}

}  // namespace relay::scripted_agent
