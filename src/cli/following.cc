#include "cli/following.h"

#include <thread>

#include "cli/failure.h"
#include "cli/workspace.h"

namespace relay::cli {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{100}, kLongestRetry{2'000};

}  // namespace

ExitCode follow_for_ever(const std::function<Error(Connection&)>& follow, Connection connection,
                         const Context& context) {
  for (;;) {
    const auto why = follow(connection);
    if (is(why, Errc::Refused)) return complain(why);
    if (is(why, Errc::NobodyReads)) return ExitCode::No;
    remark("the daemon went away; waiting for it to come back");
    for (auto pause = kFirstRetry;; pause = std::min(pause * 2, kLongestRetry)) {
      if (auto again = join_workspace(context)) {
        connection = *std::move(again);
        break;
      }
      std::this_thread::sleep_for(pause);
    }
    remark("the daemon is back");
  }
}

}  // namespace relay::cli
