#include "cli/following.h"

#include <thread>

#include "base/format.h"
#include "cli/failure.h"
#include "cli/workspace.h"
#include "protocol/bye.h"

namespace relay::cli {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{100}, kLongestRetry{2'000};

}  // namespace

Error goodbye_of(const protocol::Envelope& bye) {
  const auto said = protocol::parse_bye(bye.payload);
  return Error{{}, said && !said->reason.empty() ? said->reason : std::string{protocol::kDaemonStopping}};
}

ExitCode follow_for_ever(const std::function<Error(Connection&)>& follow, Connection connection,
                         const Context& context) {
  for (;;) {
    const auto why = follow(connection);
    if (is(why, Errc::Refused)) return complain(why);
    if (is(why, Errc::NobodyReads)) return ExitCode::No;
    const bool closed = why.message() == protocol::kWorkspaceClosed;
    remark(closed ? relay::format("{}; waiting for it to be opened again", why.message())
                  : "the daemon went away; waiting for it to come back");
    for (auto pause = kFirstRetry;; pause = std::min(pause * 2, kLongestRetry)) {
      if (auto again = join_workspace(context)) {
        connection = *std::move(again);
        break;
      }
      std::this_thread::sleep_for(pause);
    }
    remark(closed ? "the workspace is open again" : "the daemon is back");
  }
}

}  // namespace relay::cli
