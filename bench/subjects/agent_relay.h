/// The daemon with connected seats, for workloads that measure only it. `add_agent_relay` creates it as a Subject.
#pragma once

#include <memory>
#include <string>

#include "subjects/daemon_under_test.h"
#include "subjects/subject.h"

namespace relay::bench {

class RunningDaemon : public RunningServer {
 public:
  [[nodiscard]] virtual const DaemonUnderTest& daemon() const = 0;
};

Result<std::unique_ptr<RunningDaemon>> start_agent_relay(const std::string& program, const DaemonSettings& settings);

}  // namespace relay::bench
