#include "adapters/adapter.h"

namespace relay::adapters {

void Adapter::on_hook(const hooks::Event&, std::uint64_t, HookReply reply) { reply({}); }
void Adapter::on_hook_gone(std::uint64_t) {}
void Adapter::on_state(profiles::State) {}

std::unique_ptr<Adapter> adapter_for(std::string_view) { return nullptr; }

}  // namespace relay::adapters
