/// A pattern of a profile, with linear-time matching. Hides the regex library.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::profiles {

/// An empty pattern matches nothing, so that an absent rule needs no special case.
class Regex {
 public:
  Regex();
  static Result<Regex> compile(const std::string& pattern);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  [[nodiscard]] bool given() const { return compiled_ != nullptr; }
  /// Matches anywhere in the text; patterns anchor themselves.
  [[nodiscard]] bool matches(std::string_view text) const;
  /// Captures the first group, or the whole match without one; false without a match.
  bool capture(std::string_view text, std::string& group) const;

 private:
  struct Compiled;
  std::unique_ptr<const Compiled> compiled_;
};

/// Several patterns matched in one pass over the text.
class RegexSet {
 public:
  RegexSet();
  static Result<RegexSet> compile(const std::vector<std::string>& patterns);
  RegexSet(RegexSet&&) noexcept;
  RegexSet& operator=(RegexSet&&) noexcept;
  ~RegexSet();

  [[nodiscard]] bool matches(std::string_view text) const;
  /// The indices of the matching patterns, ascending; valid until the next call.
  [[nodiscard]] const std::vector<int>& which(std::string_view text) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace relay::profiles
