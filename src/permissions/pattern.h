/// Patterns over whole texts, in linear time. Hides the regex library.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::permissions {

/// A rule that approves matches strictly, one that asks or denies matches loosely.
enum class Matching : std::uint8_t {
  Strict,  // UTF-8, case-sensitive
  Loose,   // any bytes, file names case-insensitive
};

/// Any of several regular expressions. Copies share the compiled form; an empty pattern matches nothing.
class Pattern {
 public:
  /// For commands. Strict: the whole text. Loose: also the part after a blank, a slash, a quote or dashes, so that `rm
  /// .*` matches `sudo /bin/rm x`.
  static Result<Pattern> of_commands(std::span<const std::string> expressions, Matching matching);

  /// For names with `*`: of tools, of agents. Case-insensitive.
  static Result<Pattern> of_names(std::span<const std::string> names);

  /// For paths, see path_matching.h.
  static Result<Pattern> of_files(std::span<const std::string> globs, Matching matching);

  [[nodiscard]] bool is_set() const { return compiled_ != nullptr; }
  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  struct Compiled;
  static Result<Pattern> compile(const std::string& expression, bool bytes, bool fold_case);

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace relay::permissions
