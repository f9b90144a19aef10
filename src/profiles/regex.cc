#include "profiles/regex.h"

#include <re2/re2.h>

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

}  // namespace relay::profiles
