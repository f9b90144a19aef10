#include "paths.h"

#include <algorithm>

namespace relay::cost {
namespace {

constexpr double kDefault = 0.25;       // libraries differ by 3 % between processors
constexpr double kMostlySqlite = 0.35;  // and SQLite versions by more

constexpr Path kPaths[] = {
    {"frame", "message", kDefault, "SEND of 1 KB to ACK and DELIVER, and the recipient's ACK", prepare_frame},
    {"broadcast", "delivery", kDefault, "one SEND to 200 agents, each of which acknowledges", prepare_broadcast},
    {"store", "message", kMostlySqlite, "a message of 1 KB and its delivery into SQLite, then delivered",
     prepare_store},
    {"terminal", "byte", kDefault, "a recording through the screen model", prepare_terminal},
    {"commands", "byte", kDefault, "relay commands extracted from the text of a recording", prepare_commands},
    {"json", "byte", kDefault, "a payload of 8 KB checked by the scanner", prepare_json},
    {"event", "event", kDefault, "an event parsed, buffered and written to one SSE stream", prepare_event},
};

}  // namespace

std::span<const Path> paths() { return kPaths; }

const Path* find_path(std::string_view name) {
  const auto* found = std::ranges::find(kPaths, name, &Path::name);
  return found == std::end(kPaths) ? nullptr : found;
}

}  // namespace relay::cost
