#include "mcp/name_slot.h"

#include "base/format.h"
#include "protocol/limits.h"
#include "protocol/names.h"

namespace relay::mcp {

Result<NameSlot> take_name(Directory& directory, const std::function<std::string()>& fresh) {
  for (int slot = 1; slot <= kMaxNameSlots; ++slot) {
    const auto file = format("mcp-{}.name", slot);
    auto lock = directory.lock(file + ".lock");
    if (!lock && is(lock.error(), LockErrc::Held)) continue;
    if (!lock) return Failure{lock.error()};
    const auto saved = RELAY_TRY(directory.read(file, protocol::kMaxNameBytes)).value_or("");
    if (protocol::check_agent_name(saved)) return NameSlot{saved, *std::move(lock)};
    auto name = fresh();
    {
      const auto made = RELAY_TRY(directory.create(file + ".new"));
      RELAY_TRY(made->append(name));
    }
    RELAY_TRY(directory.replace(file, file + ".new"));
    return NameSlot{std::move(name), *std::move(lock)};
  }
  return fail(format("{} MCP servers run in this project already; give this one a name with --name", kMaxNameSlots));
}

}  // namespace relay::mcp
