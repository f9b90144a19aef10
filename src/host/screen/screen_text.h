/// A screen as plain text: rows without trailing blanks, without empty rows at the end.
#pragma once

#include <string>

#include "terminal/screen.h"

namespace relay::host {

std::string text_of(const terminal::Screen& screen);

}  // namespace relay::host
