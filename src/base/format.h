/// The one door for text formatting (libstdc++ 12 has no std::format).
#pragma once

#include <fmt/format.h>

namespace relay {
using fmt::format;
}
