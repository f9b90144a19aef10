/// What an agent writes in a day: paragraphs, lists, code, and now and then a message.
#pragma once

#include <string>

namespace relay::bench {

/// The same in every run.
std::string agent_like_text(std::size_t bytes);

}  // namespace relay::bench
