/// The agents that have doors we know; one file each.
#pragma once

#include <memory>

#include "adapters/adapter.h"

namespace relay::adapters {

std::unique_ptr<Adapter> claude();
std::unique_ptr<Adapter> codex();
std::unique_ptr<Adapter> gemini();

}  // namespace relay::adapters
