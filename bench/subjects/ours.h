/// Our daemon with seats at it, for the work that is about us alone; as a Subject it is made by `add_ours`.
#pragma once

#include <memory>
#include <string>

#include "subjects/daemon_under_test.h"
#include "subjects/subject.h"

namespace relay::bench {

class RunningDaemon : public Running {
 public:
  [[nodiscard]] virtual const DaemonUnderTest& daemon() const = 0;
};

Result<std::unique_ptr<RunningDaemon>> start_ours(const std::string& program, const DaemonSettings& settings);

}  // namespace relay::bench
