/// How far a message has come, in words: while its sender waits, and when the waiting was in vain.
#pragma once

#include <string>

#include "cli/framework/context.h"
#include "cli/render/status_line.h"
#include "cli/send/send_request.h"

namespace relay::cli {

/// `stored → accepted (by inbox) → written`, and what it waits for now if it was told.
std::string progress_text(const SendResult& fate, bool unicode);

/// Whether a host of the recipient runs here. Such a host may be connecting again, or have lost its name for good: only it knows.
enum class HostRuns { No, Yes };
HostRuns host_runs(const Context& context, const SendResult& fate, const std::string& to);

/// The next clause of "it was not seen in time": where it is now, and no more than is known.
std::string progress_summary(const SendResult& fate, const std::string& to, HostRuns host, WallMs now);

/// `queued (Bob is offline since 14:02)`; empty when that is not so.
std::string queued_sentence(const SendResult& fate, const std::string& to, HostRuns host, WallMs now);

/// The journey on a line that is written anew with every step.
class ProgressLine {
 public:
  ProgressLine(const Context& context, std::string to);

  void show(const SendResult& fate);
  void clear() { line_.clear(); }
  [[nodiscard]] bool is_live() const { return line_.is_live(); }

 private:
  const Context& context_;
  std::string to_;
  StatusLine line_;
};

}  // namespace relay::cli
