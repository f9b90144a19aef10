#include "scripted_agent/journal.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/format.h"

namespace relay::scripted_agent {

Result<Journal> Journal::open(const std::string& path) {
  Journal journal;
  journal.file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!journal.file_) return fail_errno(format("cannot write the log {}", path));
  return journal;
}

void Journal::note(std::string_view event, json::object fields) const {
  if (!file_) return;
  fields["event"] = json::string_view{event.data(), event.size()};
  fields["at_ms"] = SystemClock{}.now().wall;
  const auto line = json::serialize(fields) + "\n";
  [[maybe_unused]] const auto ignored = ::write(file_.get(), line.data(), line.size());  // a test will miss the line
}

}  // namespace relay::scripted_agent
