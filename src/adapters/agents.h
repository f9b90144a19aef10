/// The agents with native interfaces; one file each.
#pragma once

#include <memory>

#include "adapters/adapter.h"

namespace relay::adapters {

std::unique_ptr<Adapter> claude(net::AsioLoop& loop);
std::unique_ptr<Adapter> codex(net::AsioLoop& loop);
std::unique_ptr<Adapter> gemini(net::AsioLoop& loop);

}  // namespace relay::adapters
