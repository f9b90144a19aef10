#include "adapters/adapter.h"

#include "adapters/agents.h"
#include "adapters/opencode.h"

namespace relay::adapters {

void Adapter::on_hook(const hooks::HookEvent&, std::uint64_t, HookReply reply) { reply({}); }
void Adapter::on_hook_gone(std::uint64_t) {}
void Adapter::on_state(profiles::State) {}
void Adapter::on_agent_exit() {}

std::unique_ptr<Adapter> adapter_for(std::string_view profile, net::AsioLoop& loop) {
  if (profile == "claude") return claude(loop);
  if (profile == "codex") return codex(loop);
  if (profile == "gemini") return gemini(loop);
  if (profile == "opencode") return opencode(loop);
  return nullptr;
}

}  // namespace relay::adapters
