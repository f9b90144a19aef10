#include "host/prompts/dialog.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/format.h"
#include "protocol/send.h"

namespace relay::host {
namespace {

using adapters::PromptAnswer;
using adapters::PromptKind;
using profiles::ChoiceMeaning;
using profiles::DialogChoice;
using profiles::DialogKeys;

std::string squeezed(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

/// Columns are padded with blanks, so their number means nothing.
std::string with_single_blanks(std::string text) {
  const auto ends = std::ranges::unique(text, [](char a, char b) { return a == ' ' && b == ' '; });
  text.erase(ends.begin(), ends.end());
  return text;
}

bool same_words(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The only one that matches; none when several do.
template <typename Fits>
std::optional<std::size_t> only_one(const std::vector<DialogChoice>& choices, Fits fits) {
  const auto found = std::ranges::find_if(choices, fits);
  if (found == choices.end() || std::any_of(found + 1, choices.end(), fits)) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

std::optional<std::size_t> that_says(const Dialog& dialog, ChoiceMeaning says) {
  return only_one(dialog.choices, [&](const DialogChoice& each) { return each.meaning == says; });
}

Dialog made(PromptKind kind, std::string about, const std::string& body, bool certain,
            const std::vector<DialogChoice>& choices) {
  auto whole = about + "\n" + body;
  for (const auto& choice : choices) whole += format("\n{}. {}", choice.number, choice.label);
  return {kind, squeezed(std::move(about)), with_single_blanks(std::move(whole)), certain, body, choices};
}

}  // namespace

std::optional<std::size_t> Dialog::marked() const {
  return only_one(choices, [](const DialogChoice& each) { return each.marked; });
}

std::optional<Dialog> dialog_in(const profiles::ScreenFindings& findings) {
  if (const auto& asked = findings.permission)
    return made(PromptKind::Permission, format("{}/{}/{}", asked->pattern, asked->tool, asked->command), asked->body,
                asked->whole, asked->choices);
  if (const auto& asked = findings.question)
    return made(PromptKind::Question, format("{}/{}", asked->pattern, asked->text), asked->body, asked->whole,
                asked->choices);
  return std::nullopt;
}

bool has_own_keys(const Dialog& dialog) {
  return !dialog.choices.empty() && std::ranges::none_of(dialog.choices, &std::string::empty, &DialogChoice::takes);
}

bool can_press(const Dialog& dialog, DialogKeys press) {
  if (!dialog.certain) return false;
  if (dialog.kind == PromptKind::Permission &&
      !(that_says(dialog, ChoiceMeaning::Approve) && that_says(dialog, ChoiceMeaning::Deny)))
    return false;
  if (has_own_keys(dialog)) return true;
  switch (press) {
    case DialogKeys::None: return false;
    case DialogKeys::Cursor: return dialog.marked().has_value();
    case DialogKeys::Letter: return std::ranges::none_of(dialog.choices, &std::string::empty, &DialogChoice::key);
  }
  return false;
}

Result<std::size_t> choice_for(const Dialog& dialog, const PromptAnswer& reply) {
  std::optional<std::size_t> choice;
  if (dialog.kind == PromptKind::Permission) {
    choice =
        that_says(dialog, reply.verdict == PromptAnswer::Decision::Allow ? ChoiceMeaning::Approve : ChoiceMeaning::Deny);
  } else if (reply.answers.size() == 1) {
    choice = only_one(dialog.choices, [&](const DialogChoice& each) {
      return same_words(each.label, reply.answers.front()) || each.number == reply.answers.front();
    });
  }
  if (choice) return *choice;
  std::string offered;
  for (const auto& each : dialog.choices) offered += format("{}{}", offered.empty() ? "" : "; ", each.label);
  return fail(protocol::NackCode::BadRequest,
              format("that can only be answered with one of what is offered on the agent's screen: {}", offered));
}

std::string said_once(const std::string& body) {
  std::vector<std::string> lines;
  std::istringstream in{body};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string out;
  for (std::size_t i = 0; i < lines.size();) {
    const auto& title = lines[i++];
    out += (i == 1 ? "" : "\n") + title;
    const auto gap = title.find("  ");
    const auto subject = gap == std::string::npos ? std::string{} : squeezed(title.substr(gap));
    std::string repeated;
    std::size_t end = i;
    while (end < lines.size() && repeated.size() < subject.size()) repeated += squeezed(lines[end++]);
    if (!subject.empty() && repeated == subject) i = end;
  }
  return out;
}

bool shows(const Dialog& dialog, std::string_view subject) {
  const auto wanted = squeezed(std::string{subject});
  if (wanted.empty()) return false;
  std::vector<std::string> lines;
  std::istringstream body{dialog.body};
  for (std::string line; std::getline(body, line);) {
    if (line.starts_with("$ ")) line.erase(0, 2);
    lines.push_back(squeezed(line));
  }
  for (std::size_t first = 0; first < lines.size(); ++first) {
    std::string joined;
    for (auto next = first; next < lines.size() && joined.size() < wanted.size(); ++next) joined += lines[next];
    if (joined == wanted) return true;
  }
  return false;
}

}  // namespace relay::host
