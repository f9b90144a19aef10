#include "profiles/regex.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>

#include "base/format.h"

namespace relay::profiles {
namespace {

constexpr std::int64_t kMaxRegexBytes = 1 << 20;  // memory of one compiled pattern

re2::RE2::Options options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxRegexBytes);
  return options;
}

}  // namespace

struct Regex::Compiled {
  explicit Compiled(const std::string& pattern) : re{pattern, options()} {}
  re2::RE2 re;
};

Regex::Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(const std::string& pattern) {
  Regex regex;
  if (pattern.empty()) return regex;
  auto compiled = std::make_unique<Compiled>(pattern);
  if (!compiled->re.ok()) return fail(format("the pattern '{}' cannot be used: {}", pattern, compiled->re.error()));
  regex.compiled_ = std::move(compiled);
  return regex;
}

bool Regex::matches(std::string_view text) const {
  return compiled_ != nullptr && re2::RE2::PartialMatch(re2::StringPiece{text.data(), text.size()}, compiled_->re);
}

bool Regex::capture(std::string_view text, std::string& group) const {
  if (compiled_ == nullptr) return false;
  const bool grouped = compiled_->re.NumberOfCapturingGroups() > 0;
  re2::StringPiece found[2];
  if (!compiled_->re.Match({text.data(), text.size()}, 0, text.size(), re2::RE2::UNANCHORED, found, grouped ? 2 : 1))
    return false;
  const auto& wanted = found[grouped ? 1 : 0];
  group.assign(wanted.data() == nullptr ? "" : wanted.data(), wanted.size());
  return true;
}

struct RegexSet::Compiled {
  re2::RE2::Set set{options(), re2::RE2::UNANCHORED};
  std::vector<Regex> single;  // used if the set runs out of memory on some text
  std::vector<int> found;
};

RegexSet::RegexSet() = default;
RegexSet::RegexSet(RegexSet&&) noexcept = default;
RegexSet& RegexSet::operator=(RegexSet&&) noexcept = default;
RegexSet::~RegexSet() = default;

Result<RegexSet> RegexSet::compile(const std::vector<std::string>& patterns) {
  RegexSet made;
  if (patterns.empty()) return made;
  made.compiled_ = std::make_unique<Compiled>();
  for (const auto& pattern : patterns) {
    if (pattern.empty()) return fail("a pattern is empty; remove it");
    made.compiled_->single.push_back(RELAY_TRY(Regex::compile(pattern)));
    std::string error;
    if (made.compiled_->set.Add(pattern, &error) < 0)
      return fail(format("the pattern '{}' cannot be used: {}", pattern, error));
  }
  if (!made.compiled_->set.Compile()) return fail("the patterns together are too large");
  return made;
}

const std::vector<int>& RegexSet::which(std::string_view text) const {
  static const std::vector<int> kNone;
  if (compiled_ == nullptr) return kNone;
  auto& found = compiled_->found;
  re2::RE2::Set::ErrorInfo error{};
  if (!compiled_->set.Match({text.data(), text.size()}, &found, &error)) {
    found.clear();
    if (error.kind == re2::RE2::Set::kNoError) return found;
    for (std::size_t index = 0; index < compiled_->single.size(); ++index)
      if (compiled_->single[index].matches(text)) found.push_back(static_cast<int>(index));
  }
  std::ranges::sort(found);
  return found;
}

bool RegexSet::matches(std::string_view text) const {
  if (compiled_ == nullptr) return false;
  re2::RE2::Set::ErrorInfo error{};
  if (compiled_->set.Match({text.data(), text.size()}, nullptr, &error)) return true;
  return error.kind != re2::RE2::Set::kNoError && !which(text).empty();
}

}  // namespace relay::profiles
