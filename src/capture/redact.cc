#include "capture/redact.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "base/format.h"

namespace relay::capture {
namespace {

/// What a candidate must contain: names without digits can look like secrets.
enum class Need { Nothing, Digit, MoreThanDigits };

struct Rule {
  std::string_view kind;
  std::string_view hint;  // no match without this substring; empty: always searched
  const char* pattern;    // the secret is its first group
  Need need = Need::Nothing;
};

#define RELAY_SECRET_NAME                                                                                          \
  "(?:pass(?:word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|auth[_-]?key|" \
  "credentials?)"

// Order matters where one shape contains another.
constexpr Rule kRules[] = {
    {"private-key", "PRIVATE KEY",
     "(?s)(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
     "(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\\z))"},
    {"age", "AGE-SECRET-KEY-", "(AGE-SECRET-KEY-1[A-Z0-9]{20,})"},
    {"anthropic", "sk-ant-", "\\b(sk-ant-[A-Za-z0-9_-]{8,})"},
    {"openai", "sk-", "\\b(sk-[A-Za-z0-9_-]{20,})", Need::Digit},
    {"stripe", "k_", "\\b([sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,})"},
    {"github", "github_pat_", "\\b(github_pat_[A-Za-z0-9_]{20,})"},
    {"github", "gh", "\\b(gh[pousr]_[A-Za-z0-9]{20,})"},
    {"gitlab", "gl", "\\b(gl(?:pat|rt|dt|ptt|soat|cbt)-[A-Za-z0-9_.-]{16,})"},
    {"aws", "A", "\\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\\b"},
    {"aws", "ABSK", "\\b(ABSK[A-Za-z0-9+/=]{60,})"},
    {"slack", "xox", "\\b(xox[a-z]-[A-Za-z0-9-]{10,})"},
    {"slack", "xapp-", "\\b(xapp-[A-Za-z0-9-]{10,})"},
    {"slack", "hooks.slack.com", "hooks\\.slack\\.com/services/([A-Za-z0-9/_-]{10,})"},
    {"google", "AIza", "\\b(AIza[A-Za-z0-9_-]{30,})"},
    {"google", "ya29.", "\\b(ya29\\.[A-Za-z0-9_-]{20,})"},
    {"npm", "npm_", "\\b(npm_[A-Za-z0-9]{30,})"},
    {"pypi", "pypi-", "\\b(pypi-[A-Za-z0-9_-]{30,})"},
    {"huggingface", "hf_", "\\b(hf_[A-Za-z0-9]{30,})"},
    {"digitalocean", "_v1_", "\\b(do[opr]_v1_[a-f0-9]{32,})"},
    {"sendgrid", "SG.", "\\b(SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,})"},
    {"vault", "hvs.", "\\b(hvs\\.[A-Za-z0-9_-]{20,})"},
    {"jwt", "ey", "\\b(ey[A-Za-z0-9_-]{8,}\\.ey[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*)"},
    {"authorization", "", "(?i)\\bauthorization\\\\*[\"']?\\s*[:=]\\s*\\\\*[\"']?((?:[a-z]+ +)?[^\\s\"'\\\\\\[]{8,})"},
    {"bearer", "", "(?i)\\bbearer +([A-Za-z0-9._~+/=-]{12,})", Need::Digit},
    {"password", "://", "[a-zA-Z]://[^\\s/:@\"']*:([^\\s/@\"'\\[]+)@"},
    {"password", "-u", "(?:^|\\s)(?:-u|--user)[ =]\\\\*[\"']?[^\\s:\"'\\\\]+:([^\\s\"'\\\\\\[]{4,})",
     Need::MoreThanDigits},
    // name=value; "name": "value"; and, where prose could look the same, name: value with a digit in it
    {"assigned", "=", "(?i)" RELAY_SECRET_NAME "=\\\\*[\"']?([^\\s\"'\\\\&;,()<>{}$\\[]{4,})", Need::MoreThanDigits},
    {"assigned", "", "(?i)" RELAY_SECRET_NAME "\\\\*[\"']?\\s*[:=]\\s*\\\\*[\"']([^\\s\"'\\\\$\\[<]{4,})",
     Need::MoreThanDigits},
    {"assigned", "", "(?i)" RELAY_SECRET_NAME "\\s*[:=]\\s*([^\\s\"'\\\\&;,()<>{}$\\[]{8,})", Need::Digit},
    {"assigned", "--", "(?i)--[a-z-]*" RELAY_SECRET_NAME " +([^\\s\"'\\\\$<\\[-][^\\s\"'\\\\]{3,})"},
};
constexpr std::size_t kRuleCount = std::size(kRules);

/// Compiled on first use: a hook runs for milliseconds, and most texts contain few hints.
const re2::RE2& compiled(std::size_t index) {
  static std::array<std::once_flag, kRuleCount> once;
  static std::array<std::unique_ptr<re2::RE2>, kRuleCount> made;
  std::call_once(once[index], [index] {
    re2::RE2::Options options{re2::RE2::Quiet};
    options.set_encoding(re2::RE2::Options::EncodingLatin1);  // any bytes
    made[index] = std::make_unique<re2::RE2>(kRules[index].pattern, options);
    RELAY_ASSERT(made[index]->ok());
  });
  return *made[index];
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_what_it_needs(std::string_view secret, Need need) {
  switch (need) {
    case Need::Nothing: return true;
    case Need::Digit: return std::ranges::any_of(secret, is_digit) && !std::ranges::all_of(secret, is_digit);
    case Need::MoreThanDigits: return !std::ranges::all_of(secret, [](char c) { return is_digit(c) || c == '.'; });
  }
  return true;
}

std::string mark(std::string_view kind) { return format("[redacted:{}]", kind); }

void apply(std::size_t index, std::string& text) {
  const auto& rule = kRules[index];
  if (text.find(rule.hint) == std::string::npos) return;
  const re2::StringPiece input{text.data(), text.size()};
  std::string out;
  std::size_t copied = 0;
  std::size_t from = 0;
  re2::StringPiece found[2];
  while (from < text.size() && compiled(index).Match(input, from, text.size(), re2::RE2::UNANCHORED, found, 2)) {
    const auto start = static_cast<std::size_t>(found[1].data() - text.data());
    from = start + found[1].size();
    if (!has_what_it_needs({found[1].data(), found[1].size()}, rule.need)) continue;
    out.append(text, copied, start - copied).append(mark(rule.kind));
    copied = from;
  }
  if (copied == 0) return;
  text = out.append(text, copied);
}

/// `api_key`, `AWS_SECRET_ACCESS_KEY`, `authorization`; not `input_tokens`.
bool names_a_secret(std::string_view key) {
  static const re2::RE2 kPattern{"(?i)(?:^|[^a-z])(?:authorization|cookie|set-cookie)$|" RELAY_SECRET_NAME "$",
                                 re2::RE2::Quiet};
  return re2::RE2::PartialMatch({key.data(), key.size()}, kPattern);
}

void redact_string(json::string& text, bool wholly) {
  const std::string_view view{text.data(), text.size()};
  if (wholly && !view.empty() && !view.starts_with("[redacted:")) {
    text = mark("named");
    return;
  }
  const auto clean = redact(view);
  if (clean != view) text.assign(clean.data(), clean.size());
}

void redact_inside(json::value& value, bool wholly) {
  if (auto* text = value.if_string()) {
    redact_string(*text, wholly);
  } else if (auto* array = value.if_array()) {
    for (auto& element : *array) redact_inside(element, wholly);
  } else if (auto* object = value.if_object()) {
    for (auto& member : *object) redact_inside(member.value(), names_a_secret(member.key()));
  }
}

}  // namespace

std::string redact(std::string_view input) {
  std::string text{input};
  for (std::size_t index = 0; index < kRuleCount; ++index) apply(index, text);
  return text;
}

void redact(json::value& value) { redact_inside(value, false); }

}  // namespace relay::capture
