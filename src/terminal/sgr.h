/// Select Graphic Rendition: parameters to style and back.
#pragma once

#include <string>

#include "terminal/parameters.h"
#include "terminal/style.h"

namespace relay::terminal {

/// Applies `CSI ... m` to a style. Unknown numbers change nothing.
void apply_sgr(Style& style, const Parameters& parameters);

/// The sequence that sets exactly this style, after any earlier style: "ESC [ 0 ; 1 ; 31 m".
std::string sgr_of(const Style& style);

}  // namespace relay::terminal
