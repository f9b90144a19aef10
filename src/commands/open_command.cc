#include "commands/open_command.h"

#include <algorithm>
#include <array>

#include "commands/line_shape.h"
#include "commands/message_body.h"

namespace relay::commands {
namespace {

constexpr std::array<std::string_view, 7> kUnfinished = {":", ";", ",", "-", "–", "—", "…"};
constexpr std::size_t kShapeBytes = 256;  // of a line, enough to determine its shape

bool ends_unfinished(std::string_view line) {
  return std::ranges::any_of(kUnfinished, [&](auto end) { return line.ends_with(end); });
}

bool is_numbered(std::string_view line) {
  const auto item = list_item(line);
  return item && item->numbered;
}

}  // namespace

OpenCommand::OpenCommand(SendCommand command, const LeadIn& lead, std::string_view first_line, std::size_t max_bytes)
    : command_{std::move(command)},
      lead_{lead},
      indent_{leading_blanks(first_line)},
      max_bytes_{max_bytes},
      overlong_{command_.body.size() > max_bytes} {}

bool OpenCommand::take(std::string_view line) {
  if (is_blank_line(line)) {
    ++blanks_;
    return true;
  }
  const auto text = trimmed_right(without_lead(line, lead_));
  if (blanks_ > 0 ? !goes_on_after_blank(text) : !joins(line, text)) return false;
  if (lead_.list_marker) {
    const auto item = list_item(line);
    if (item && item->marker <= *lead_.list_marker) return false;
  }
  ++joined_;
  if (overlong_ || command_.body.size() + blanks_ + text.size() + 1 > max_bytes_) {
    overlong_ = true;
    command_.body.clear();
  } else {
    command_.body.append(blanks_ + 1, '\n').append(text);
  }
  blanks_ = 0;
  last_ = text.substr(0, kShapeBytes);
  if (text.size() > kShapeBytes && is_table_row(text)) last_ = "| |";
  return true;
}

bool OpenCommand::joins(std::string_view line, std::string_view text) const {
  return joined_ > 0 || leading_blanks(line) > indent_ || list_item(text) || ends_unfinished(command_.body);
}

bool OpenCommand::goes_on_after_blank(std::string_view text) const {
  const bool announced = joined_ == 0 && command_.body.ends_with(':');
  if (is_table_row(text)) return announced || is_table_row(last_);
  return is_numbered(text) && (announced || is_numbered(last_));
}

}  // namespace relay::commands
