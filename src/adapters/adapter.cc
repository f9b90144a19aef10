#include "adapters/adapter.h"

#include "adapters/agents.h"
#include "adapters/opencode.h"

namespace relay::adapters {

void Adapter::on_hook(const hooks::HookEvent&, std::uint64_t, HookReply reply) { reply({}); }
void Adapter::on_hook_closed(std::uint64_t) {}
void Adapter::on_state(profiles::State) {}
void Adapter::on_agent_exit() {}

std::unique_ptr<Adapter> make_adapter(std::string_view profile, net::AsioLoop& loop) {
  if (profile == "claude") return make_claude(loop);
  if (profile == "codex") return make_codex(loop);
  if (profile == "gemini") return make_gemini(loop);
  if (profile == "opencode") return make_opencode(loop);
  return nullptr;
}

}  // namespace relay::adapters
