/// An inline command whose next lines may belong to it.
///
/// A line joins when it is indented, is a list item, follows a line that ended unfinished (`:`, `,`, a dash...), or
/// follows a line that joined. An empty line ends the message unless a table or a numbered list continues after it.
/// When the command itself is a list item, the next item is not part of it.
#pragma once

#include <string>
#include <string_view>

#include "commands/command.h"
#include "commands/lead_in.h"

namespace relay::commands {

class OpenCommand {
 public:
  OpenCommand(SendCommand command, const LeadIn& lead, std::string_view first_line, std::size_t max_bytes);

  /// Adds the line if it belongs to the message. The caller has checked that it is not a command itself.
  bool take(std::string_view line);

  [[nodiscard]] bool overlong() const { return overlong_; }
  SendCommand take_command() { return std::move(command_); }
  [[nodiscard]] const SourceLocation& location() const { return command_.location; }

 private:
  [[nodiscard]] bool joins(std::string_view line, std::string_view text) const;
  [[nodiscard]] bool goes_on_after_blank(std::string_view text) const;

  SendCommand command_;
  LeadIn lead_;
  std::size_t indent_;
  std::size_t max_bytes_;
  std::size_t joined_ = 0;
  std::size_t blanks_ = 0;  // empty lines since the last added one
  std::string last_;        // the last added line, for its shape
  bool overlong_ = false;
};

}  // namespace relay::commands
