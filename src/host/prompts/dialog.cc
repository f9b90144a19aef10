#include "host/prompts/dialog.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/format.h"
#include "net/server_request.h"
#include "protocol/send.h"

namespace relay::host {
namespace {

using adapters::PromptAnswer;
using adapters::PromptKind;
using profiles::ChoiceMeaning;
using profiles::DialogChoice;
using profiles::DialogKeys;

std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

/// Columns are padded with blanks, so their number is ignored.
std::string collapse_blanks(std::string text) {
  const auto ends = std::ranges::unique(text, [](char a, char b) { return a == ' ' && b == ' '; });
  text.erase(ends.begin(), ends.end());
  return text;
}

/// The only choice that matches; none when several do.
template <typename Fits>
std::optional<std::size_t> find_only(const std::vector<DialogChoice>& choices, Fits fits) {
  const auto found = std::ranges::find_if(choices, fits);
  if (found == choices.end() || std::any_of(found + 1, choices.end(), fits)) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

std::optional<std::size_t> find_choice(const Dialog& dialog, ChoiceMeaning meaning) {
  return find_only(dialog.choices, [&](const DialogChoice& each) { return each.meaning == meaning; });
}

Dialog make_dialog(PromptKind kind, std::string subject, const std::string& body, bool certain,
                   const std::vector<DialogChoice>& choices) {
  auto full_text = subject + "\n" + body;
  for (const auto& choice : choices) full_text += format("\n{}. {}", choice.number, choice.label);
  return {kind, without_blanks(std::move(subject)), collapse_blanks(std::move(full_text)), certain, body, choices};
}

}  // namespace

std::optional<std::size_t> Dialog::marked() const {
  return find_only(choices, [](const DialogChoice& each) { return each.marked; });
}

std::optional<Dialog> dialog_in(const profiles::ScreenFindings& findings) {
  if (const auto& permission = findings.permission)
    return make_dialog(PromptKind::Permission,
                       format("{}/{}/{}", permission->pattern, permission->tool, permission->command), permission->body,
                       permission->is_complete, permission->choices);
  if (const auto& question = findings.question)
    return make_dialog(PromptKind::Question, format("{}/{}", question->pattern, question->text), question->body,
                       question->is_complete, question->choices);
  return std::nullopt;
}

bool has_shortcut_keys(const Dialog& dialog) {
  return !dialog.choices.empty() &&
         std::ranges::none_of(dialog.choices, &std::string::empty, &DialogChoice::shortcut_key);
}

bool can_press(const Dialog& dialog, DialogKeys press) {
  if (!dialog.certain) return false;
  if (dialog.kind == PromptKind::Permission &&
      !(find_choice(dialog, ChoiceMeaning::Approve) && find_choice(dialog, ChoiceMeaning::Deny)))
    return false;
  if (has_shortcut_keys(dialog)) return true;
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
    choice = find_choice(
        dialog, reply.decision == PromptAnswer::Decision::Approve ? ChoiceMeaning::Approve : ChoiceMeaning::Deny);
  } else if (reply.answers.size() == 1) {
    choice = find_only(dialog.choices, [&](const DialogChoice& each) {
      return net::equals_ignore_case(each.label, reply.answers.front()) || each.number == reply.answers.front();
    });
  }
  if (choice) return *choice;
  std::string offered;
  for (const auto& each : dialog.choices) offered += format("{}{}", offered.empty() ? "" : "; ", each.label);
  return fail(protocol::NackCode::BadRequest,
              format("the answer must be one of the choices on the agent's screen: {}", offered));
}

std::string without_repeated_subject(const std::string& body) {
  std::vector<std::string> lines;
  std::istringstream in{body};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string out;
  for (std::size_t i = 0; i < lines.size();) {
    const auto& title = lines[i++];
    out += (i == 1 ? "" : "\n") + title;
    const auto gap = title.find("  ");
    const auto subject = gap == std::string::npos ? std::string{} : without_blanks(title.substr(gap));
    std::string repeated;
    std::size_t end = i;
    while (end < lines.size() && repeated.size() < subject.size()) repeated += without_blanks(lines[end++]);
    if (!subject.empty() && repeated == subject) i = end;
  }
  return out;
}

bool has_subject(const Dialog& dialog, std::string_view subject) {
  const auto wanted = without_blanks(std::string{subject});
  if (wanted.empty()) return false;
  std::vector<std::string> lines;
  std::istringstream body{dialog.body};
  for (std::string line; std::getline(body, line);) {
    if (line.starts_with("$ ")) line.erase(0, 2);
    lines.push_back(without_blanks(line));
  }
  for (std::size_t first = 0; first < lines.size(); ++first) {
    std::string joined;
    for (auto next = first; next < lines.size() && joined.size() < wanted.size(); ++next) joined += lines[next];
    if (joined == wanted) return true;
  }
  return false;
}

}  // namespace relay::host
