/// The result of a cancellation, for every delivery it is for.
///
/// Why the daemon's success is not enough: an unsettled delivery is only requested back from its session, which may
///   have started to use it.
/// Pure: the input is a TRACE response.
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
  std::vector<std::string> cancelled;     // delivery ids
  std::vector<TooLate> too_late;          // it reached another final state
  std::vector<std::string> requested;     // unsettled; the session has not responded yet
  std::vector<std::string> unreturnable;  // of these, the ones that the session cannot return; an error message each

  /// No more responses are expected.
  [[nodiscard]] bool is_final() const { return requested.size() == unreturnable.size(); }
};
/// `refused`: the daemon's error messages for deliveries that it did not cancel, by id.
CancelResult cancel_result_of(const json::object& trace, const std::vector<std::string>& deliveries,
                              const std::map<std::string, std::string>& refused = {});

ExitCode exit_code_of(const CancelResult& result);
/// The line `7kq2m9xa cancelled`; empty when nothing was cancelled.
std::string success_text(const CancelResult& result, const std::string& id);
/// `too late: delivered to Bob at 14:03:07`; `cancellation requested; no response yet; …`; empty when all were cancelled.
std::string error_text(const CancelResult& result, const std::string& id, WallMs now);
/// `{"cancelled":[…],"tooLate":[…],"requested":[…]}`, with `error` when not all were cancelled.
json::object as_json(const CancelResult& result, const std::string& error);

}  // namespace relay::cli
