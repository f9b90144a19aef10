/// Synthetic agent output: paragraphs, lists, code, and now and then a message.
#pragma once

#include <string>

namespace relay::bench {

/// Deterministic.
std::string agent_like_text(std::size_t bytes);

}  // namespace relay::bench
