#include "host/prompts/terminal_notifier.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxNoticeBytes = 200;

struct Notice {
  std::string id, text;
};
std::optional<Notice> notice_for(const events::Event& event) {
  if (const auto* permission = std::get_if<events::PermissionRequested>(&event))
    return Notice{permission->request_id, "asks for permission: " + permission->description};
  if (const auto* question = std::get_if<events::QuestionRequested>(&event))
    return Notice{question->question_id, "asks: " + question->question};
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
  std::map<std::string, Request> still_open;
  std::string message;
  for (const auto& event : open) {
    const auto notice = notice_for(event);
    if (!notice) continue;
    const auto found = requests_.find(notice->id);
    auto request = found == requests_.end() ? Request{now} : found->second;
    if (!request.notified && now >= request.since + kNotifyDelay) {
      request.notified = true;
      message = format("{} {}", agent_, notice->text);  // of several due at once, the newest is enough
    }
    still_open.emplace(notice->id, request);
  }
  requests_ = std::move(still_open);
  std::string out;
  for (const auto& text : {approval_ ? std::exchange(*approval_, {}) : std::string{}, message}) {
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
    if (!request.notified) due = due ? std::min(*due, request.since + kNotifyDelay) : request.since + kNotifyDelay;
  return due;
}

}  // namespace relay::host
