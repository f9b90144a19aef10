#include "host/keyboard.h"

#include <algorithm>
#include <utility>

namespace relay::host {

void Keyboard::connect(pty::Program& program) {
  program_ = &program;
  on_room();
}

void Keyboard::person_types(std::string_view bytes, SteadyTime now) {
  write(bytes);
  count(splitter_.expire(now), last_typed_);  // an Escape of long ago does not belong to what is typed now
  count(splitter_.feed(bytes, now), now);
  last_typed_ = now;
  if (splitter_.may_be_escape()) typing_.any = typing_.edit = now;
}

void Keyboard::count(const std::vector<terminal::InputPiece>& pieces, SteadyTime at) {
  for (const auto& piece : pieces) {
    if (!terminal::is_typing(piece.kind)) continue;
    typing_.any = std::max(typing_.any, at);
    auto& kind = piece.kind == terminal::InputKind::Enter ? typing_.enter : typing_.edit;
    kind = std::max(kind, at);
  }
}

void Keyboard::write(std::string_view bytes) {
  waiting_.append(bytes);
  on_room();
}

void Keyboard::on_room() {
  if (program_ != nullptr && !waiting_.empty()) waiting_.erase(0, program_->write(waiting_));
  const bool crowded = !waiting_.empty();
  if (std::exchange(crowded_, crowded) != crowded) on_crowded_(crowded);
}

bool Keyboard::empty() const { return waiting_.empty() && (program_ == nullptr || program_->input_waiting() == 0); }

}  // namespace relay::host
