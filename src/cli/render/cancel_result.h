/// What became of deliveries that somebody wants to take back.
///
/// Why not the daemon's yes alone: one that its session has in hand is only asked back, and that session may have begun.
/// Pure: an answer to TRACE goes in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "cli/framework/exit_code.h"

namespace relay::cli {

struct CancelResult {
  struct TooLate {
    std::string delivery, to, state, reason;
    WallMs at = 0;
  };
  std::vector<std::string> cancelled;  // delivery ids
  std::vector<TooLate> too_late;       // it ended otherwise
  std::vector<std::string> asked;      // a session has them, and has not answered yet
  std::vector<std::string> kept;       // of these: it never will; a sentence each

  /// Nothing more will come of it.
  [[nodiscard]] bool settled() const { return asked.size() == kept.size(); }
};
/// `refused`: the daemon's sentences about those that it would not cancel.
CancelResult cancelling_of(const json::object& trace, const std::vector<std::string>& deliveries,
                           const std::map<std::string, std::string>& refused = {});

/// All were cancelled, or why not.
ExitCode ending_of(const CancelResult& cancelling);
/// `7kq2m9xa cancelled`, a line; empty when nothing was.
std::string success_of(const CancelResult& cancelling, const std::string& id);
/// `too late: delivered to Bob at 14:03:07`; `asked to give it back; no answer yet: …`; empty when all were cancelled.
std::string error_with(const CancelResult& cancelling, const std::string& id, WallMs now);
/// `{"cancelled":[…],"tooLate":[…],"asked":[…]}`, with an `error` when there is trouble.
json::object as_json(const CancelResult& cancelling, const std::string& trouble);

}  // namespace relay::cli
