#include "host/adapter_events.h"

#include "host/agent_commands.h"
#include "host/agent_state.h"
#include "host/agent_updater.h"
#include "host/control/host_server.h"
#include "host/daemon_session.h"
#include "host/delivery/pipeline.h"
#include "host/session_end.h"

namespace relay::host {

void AdapterEvents::on_assistant_text(std::string_view markdown) { parts_.commands.on_transcript(markdown); }

void AdapterEvents::on_model_input(std::string_view text, std::string_view via, std::string_view id) {
  parts_.pipeline.on_model_input(text, via, id);
  parts_.updater.update_soon();
}

void AdapterEvents::on_returned(const std::vector<std::string>& deliveries, std::string_view reason) {
  parts_.pipeline.on_returned(deliveries, reason);
  parts_.updater.update_soon();
}

void AdapterEvents::on_changed() {
  if (parts_.end.has_exited()) return;
  parts_.session.mark_state_changed();  // reported once it is known what is pending in this state, and why
  if (!parts_.state.is_held_back(loop_.now().steady)) parts_.server.on_state();
  parts_.updater.update_soon();
}

void AdapterEvents::on_client_event(const std::string& event) { parts_.server.on_event(event); }

void AdapterEvents::on_agent_event(events::Event event, WallMs at) {
  const auto* permission = std::get_if<events::PermissionRequested>(&event);
  if (permission != nullptr && !parts_.session.is_ready())  // there is no daemon whose rules could decide it
    loop_.post([this, alive = lifetime_.watch(), request = permission->request_id] {
      if (alive) parts_.adapter.show_dialog(request);
    });
  parts_.session.report_event(std::move(event), at);
}

std::string AdapterEvents::take_pending(protocol::DeliveryMode mode, std::size_t max_bytes) {
  return parts_.pipeline.take_for_hook(mode, max_bytes, parts_.updater.delivery_view());
}

}  // namespace relay::host
