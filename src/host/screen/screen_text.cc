#include "host/screen/screen_text.h"

namespace relay::host {

std::string text_of(const terminal::Screen& screen) {
  std::string text;
  std::size_t used = 0;
  for (int row = 0; row < screen.grid().rows(); ++row) {
    const auto line = screen.grid().text(row);
    text += line + "\n";
    if (!line.empty()) used = text.size();
  }
  text.resize(used);
  return text;
}

}  // namespace relay::host
