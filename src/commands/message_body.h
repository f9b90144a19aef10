/// The text between `<<<` and `>>>`, collected line by line.
///
/// `>>>` closes at the start or at the end of a line; `\>>>` and `\<<<` are the characters themselves; longer runs of
/// `>` (a merge conflict) are text. Inside fenced code only a line of nothing but `>>>` closes, so that a quoted Python
/// prompt does not. Invariant: never exceeds its limit; overlong() reports an excess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "commands/code_fence.h"
#include "commands/grammar_options.h"
#include "commands/lead_in.h"

namespace relay::commands {

/// Does the text after an address open a body?
bool opens_body(std::string_view text);

class MessageBody {
 public:
  /// `lead` is the lead-in of the command: its quote marks and its indentation are removed from every line.
  MessageBody(const LeadIn& lead, Surface surface, std::size_t max_bytes)
      : lead_{lead}, surface_{surface}, max_bytes_{max_bytes} {}

  struct Step {
    bool closed = false;
    std::string_view rest = {};  // of the line, after a closing `>>>` at its start
  };
  Step take(std::string_view line);

  void set_overlong() { overlong_ = true; }
  [[nodiscard]] bool overlong() const { return overlong_; }
  [[nodiscard]] bool in_code() const { return code_.has_value(); }
  [[nodiscard]] const LeadIn& lead() const { return lead_; }
  /// Without blanks and empty lines at the ends.
  [[nodiscard]] std::string text() const;

 private:
  void append(std::string_view line);

  LeadIn lead_;
  Surface surface_;
  std::size_t max_bytes_;
  std::optional<CodeFence> code_;
  std::string text_;
  bool overlong_ = false;
};

/// A line of a message without the lead-in of the command: its quote marks, then its indentation.
std::string_view without_lead(std::string_view line, const LeadIn& lead);

}  // namespace relay::commands
