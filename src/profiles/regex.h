/// A pattern from a profile, in linear time. Hides the library behind it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::profiles {

/// Made from no text it matches nothing, so that an absent rule needs no special case.
class Regex {
 public:
  Regex();
  static Result<Regex> compile(const std::string& pattern);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  [[nodiscard]] bool given() const { return compiled_ != nullptr; }
  /// Anywhere in the text; patterns anchor themselves.
  [[nodiscard]] bool matches(std::string_view text) const;
  /// The first group, or the whole match when there is none; false when it does not match.
  bool capture(std::string_view text, std::string& group) const;

 private:
  struct Compiled;
  std::unique_ptr<const Compiled> compiled_;
};

/// Several patterns asked at once, in one pass over the text.
class RegexSet {
 public:
  RegexSet();
  static Result<RegexSet> compile(const std::vector<std::string>& patterns);
  RegexSet(RegexSet&&) noexcept;
  RegexSet& operator=(RegexSet&&) noexcept;
  ~RegexSet();

  [[nodiscard]] bool matches(std::string_view text) const;
  /// Which of them match, in rising order; valid until the next call.
  [[nodiscard]] const std::vector<int>& which(std::string_view text) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace relay::profiles
