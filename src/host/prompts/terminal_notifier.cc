#include "host/prompts/terminal_notifier.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxNoticeBytes = 200;

struct Ring {
  std::string id, text;
};
std::optional<Ring> ring_for(const events::Event& event) {
  if (const auto* permission = std::get_if<events::PermissionRequested>(&event))
    return Ring{permission->request_id, "asks for permission: " + permission->description};
  if (const auto* question = std::get_if<events::QuestionRequested>(&event))
    return Ring{question->question_id, "asks: " + question->question};
  return std::nullopt;
}

std::string sequence(TerminalNotification notice, std::string text) {
  std::ranges::replace(text, ';', ',');  // it separates the parts of a sequence
  if (notice == TerminalNotification::Osc777) return format("\x1b]777;notify;Agent Relay;{}\x07", text);
  return format("\x1b]9;Agent Relay: {}\x07", text);
}

}  // namespace

std::string TerminalNotifier::notification(const std::vector<events::Event>& open, SteadyTime now) {
  if (notice_ == TerminalNotification::Off) return {};
  std::map<std::string, Request> still;
  std::string says;
  for (const auto& event : open) {
    const auto asked = ring_for(event);
    if (!asked) continue;
    const auto known = requests_.find(asked->id);
    auto request = known == requests_.end() ? Request{now} : known->second;
    if (!request.rung && now >= request.since + kTimeout) {
      request.rung = true;
      says = format("{} {}", agent_, asked->text);  // of several that are due at once the newest is enough
    }
    still.emplace(asked->id, request);
  }
  requests_ = std::move(still);
  std::string out;
  for (const auto& text : {approval_ ? std::exchange(*approval_, {}) : std::string{}, says}) {
    if (text.empty()) continue;
    const auto line = text::sanitize_line(text);
    out += sequence(notice_, std::string{text::truncate_utf8(line, kMaxNoticeBytes)});
  }
  return out;
}

void TerminalNotifier::note_approval(const std::string& rule) {
  if (!approval_) approval_ = format("{} was approved without asking you by {}", agent_, rule);
}

std::optional<SteadyTime> TerminalNotifier::due() const {
  std::optional<SteadyTime> due;
  for (const auto& [id, request] : requests_)
    if (!request.rung) due = due ? std::min(*due, request.since + kTimeout) : request.since + kTimeout;
  return due;
}

}  // namespace relay::host
