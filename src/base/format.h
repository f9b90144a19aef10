/// Text formatting (libstdc++ 12 has no std::format). Code includes this header, not fmt.
#pragma once

#include <fmt/format.h>

namespace relay {
using fmt::format;
}
