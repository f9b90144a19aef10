#include "host/command_feedback.h"

#include "base/log.h"
#include "host/agent_updater.h"
#include "host/control/host_server.h"
#include "host/delivery/pipeline.h"

namespace relay::host {

void CommandFeedback::on_command_sent(std::string_view to, std::string_view kind) { server_.on_command_sent(to, kind); }

void CommandFeedback::on_command_failed(std::string_view why) {
  log::debug("command failed", {{"agent", agent_}, {"reason", std::string{why}}});
  pipeline_.notify_agent(why, is_typed_into_, loop_.now().wall);
  updater_.update_soon();
}

}  // namespace relay::host
