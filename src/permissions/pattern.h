/// Patterns over whole texts, in linear time. Hides the library behind it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::permissions {

/// What approves must be certain, what stops may be guessed.
enum class Matching : std::uint8_t {
  Strict,  // UTF-8, letters as they are
  Loose,   // any bytes, small letters and capitals alike for names of files
};

/// Any of several regular expressions. Copies share what was compiled; made from nothing it matches nothing.
class Pattern {
 public:
  /// For commands. Strict: a text as a whole. Loose: also what follows a blank, a slash, a quote or dashes in it, so
  /// that `rm .*` finds `sudo /bin/rm x`.
  static Result<Pattern> of_commands(std::span<const std::string> expressions, Matching matching);

  /// For names with `*`: of tools, of agents. Small letters and capitals are alike.
  static Result<Pattern> of_names(std::span<const std::string> names);

  /// For paths, see files.h.
  static Result<Pattern> of_files(std::span<const std::string> globs, Matching matching);

  [[nodiscard]] bool given() const { return compiled_ != nullptr; }
  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  struct Compiled;
  static Result<Pattern> compile(const std::string& expression, bool bytes, bool fold_case);

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace relay::permissions
