#include "permissions/pattern.h"

#include <re2/re2.h>

#include "base/format.h"
#include "base/toml.h"

namespace relay::permissions {
namespace {

constexpr std::int64_t kMaxCompiledBytes = 4 << 20;  // memory of one rule's patterns

re2::RE2::Options options(bool bytes, bool fold_case) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxCompiledBytes);
  if (bytes) options.set_encoding(re2::RE2::Options::EncodingLatin1);
  options.set_case_sensitive(!fold_case);
  return options;
}

std::string any_of(std::span<const std::string> expressions) {
  std::string all;
  for (const auto& each : expressions) all += format("{}(?:{})", all.empty() ? "" : "|", each);
  return all;
}

std::string literal(char c) { return re2::RE2::QuoteMeta(std::string(1, c)); }

/// `*` and `?` stay within one name, `**` does not.
std::string expression_of(std::string_view glob) {
  std::string expression;
  while (!glob.empty()) {
    if (glob.starts_with("**/")) {
      expression += "(?:.*/)?";
      glob.remove_prefix(3);
    } else if (glob.starts_with("**")) {
      expression += ".*";
      glob.remove_prefix(2);
    } else {
      expression += glob.front() == '*' ? "[^/]*" : glob.front() == '?' ? "[^/]" : literal(glob.front());
      glob.remove_prefix(1);
    }
  }
  return expression;
}

/// Any home directory: the user's own is unknown here.
constexpr std::string_view kAnyHome = "(?:~[^/]*|/root|/home/[^/]+|/Users/[^/]+)";

std::string file_expression(std::string_view glob) {
  const bool directory = glob.size() > 1 && glob.ends_with('/');
  if (directory) glob.remove_suffix(1);
  const std::string below = directory ? "(?:/.*)?" : "";
  if (glob.starts_with("~/")) return std::string{kAnyHome} + expression_of(glob.substr(1)) + below;
  if (glob.starts_with('/') || glob.starts_with("./") || glob.starts_with("**")) return expression_of(glob) + below;
  return (glob.contains('/') ? "\\./" : "(?:.*/)?") + expression_of(glob) + below;
}

}  // namespace

struct Pattern::Compiled {
  Compiled(const std::string& expression, const re2::RE2::Options& options) : re{expression, options} {}
  re2::RE2 re;
};

Result<Pattern> Pattern::compile(const std::string& expression, bool bytes, bool fold_case) {
  Pattern pattern;
  if (expression.empty()) return pattern;
  auto compiled = std::make_shared<const Compiled>(expression, options(bytes, fold_case));
  if (!compiled->re.ok()) return fail(printable_name(compiled->re.error()));
  pattern.compiled_ = std::move(compiled);
  return pattern;
}

Result<Pattern> Pattern::of_commands(std::span<const std::string> expressions, Matching matching) {
  for (const auto& each : expressions) {  // compiled separately first: `a)|(b` must not become two patterns
    const auto separate = compile(each, false, false);
    if (each.empty()) return fail("a pattern is empty");
    if (!separate)
      return fail(format("the pattern '{}' cannot be used: {}", printable_name(each), separate.error().message()));
  }
  const auto all = any_of(expressions);
  if (all.empty()) return Pattern{};
  if (matching == Matching::Strict) return compile(all, false, false);
  return compile(format("(?s:.*[\\s/'\"=])?-{{0,2}}(?:{})\\s*", all), true, false);
}

Result<Pattern> Pattern::of_names(std::span<const std::string> names) {
  std::string all;
  for (const auto& name : names) {
    std::string expression;
    for (const char c : name) expression += c == '*' ? "(?s:.*)" : literal(c);
    all += (all.empty() ? "(?:" : "|(?:") + expression + ")";
  }
  return compile(all, true, true);
}

Result<Pattern> Pattern::of_files(std::span<const std::string> globs, Matching matching) {
  std::string all;
  for (const auto& glob : globs) all += (all.empty() ? "(?:" : "|(?:") + file_expression(glob) + ")";
  return compile(all.empty() ? all : "(?s:" + all + ")", true, matching == Matching::Loose);
}

bool Pattern::matches(std::string_view text) const {
  return compiled_ != nullptr && re2::RE2::FullMatch(re2::StringPiece{text.data(), text.size()}, compiled_->re);
}

}  // namespace relay::permissions
