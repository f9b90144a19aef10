/// The adapters of agents with native interfaces, one class each. `make_opencode` is in opencode.h.
#pragma once

#include <memory>

#include "adapters/adapter.h"

namespace relay::adapters {

std::unique_ptr<Adapter> make_claude(net::AsioLoop& loop);
std::unique_ptr<Adapter> make_codex(net::AsioLoop& loop);
std::unique_ptr<Adapter> make_gemini(net::AsioLoop& loop);

}  // namespace relay::adapters
