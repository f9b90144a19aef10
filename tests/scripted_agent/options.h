/// The options of a run of the scripted agent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace relay::scripted_agent {

struct Options {
  enum class Paste : std::uint8_t { Bracketed, Unknown };
  enum class OnTerminate : std::uint8_t { Die, Ignore };
  enum class Show : std::uint8_t { No, Yes };
  enum class Surface : std::uint8_t { Inline, Alternate };

  Surface surface = Surface::Inline;
  Paste paste = Paste::Bracketed;
  Show status = Show::No;
  Show titles = Show::No;
  OnTerminate on_terminate = OnTerminate::Die;
  std::size_t swallowed_enters = 0;
  std::size_t fold = 0;  // a longer paste appears as [Pasted text #1]; 0: none does
  Millis work{200};
  Millis burst{0};  // an Enter so soon after text belongs to the text
  std::string script_path;
  std::string log_path;
};

extern const char* const kUsage;

Result<Options> parse_options(const std::vector<std::string>& arguments);

}  // namespace relay::scripted_agent
