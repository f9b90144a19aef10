/// The progress of a sent message as text: while the command waits, and after a timeout.
#pragma once

#include <string>

#include "cli/framework/context.h"
#include "cli/render/status_line.h"
#include "cli/send/send_request.h"

namespace relay::cli {

/// `stored → accepted (via inbox) → written`, with the reason when it is pending.
std::string progress_text(const SendResult& result, bool unicode);

/// Whether a host of the recipient runs here. It may be reconnecting, or have lost its name, which only the host can report.
enum class HostRuns { No, Yes };
HostRuns host_runs(const Context& context, const SendResult& result, const std::string& to);

/// The progress so far, for the error after a timeout. Claims only what the receipts prove.
std::string progress_summary(const SendResult& result, const std::string& to, HostRuns host, WallMs now);

/// `queued (Bob is offline since 14:02)`, or `pending: REASON`; empty when neither is so.
std::string queued_text(const SendResult& result, const std::string& to, HostRuns host, WallMs now);

/// The progress on a status line that is redrawn with every step.
class ProgressLine {
 public:
  ProgressLine(const Context& context, std::string to);

  void show(const SendResult& result);
  void clear() { line_.clear(); }
  [[nodiscard]] bool is_live() const { return line_.is_live(); }

 private:
  const Context& context_;
  std::string to_;
  StatusLine line_;
};

}  // namespace relay::cli
