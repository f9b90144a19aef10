#include "host/keyboard.h"

#include <utility>

namespace relay::host {

void Keyboard::connect(pty::Program& program) {
  program_ = &program;
  on_room();
}

void Keyboard::person_types(std::string_view bytes, SteadyTime now) {
  write(bytes);
  for (const auto& piece : splitter_.feed(bytes, now)) {
    if (!terminal::is_typing(piece.kind)) continue;
    typing_.any = now;
    (piece.kind == terminal::InputKind::Enter ? typing_.enter : typing_.edit) = now;
  }
  if (splitter_.deadline())
    typing_.any = typing_.edit = now;  // an Escape that may be alone: in doubt it was the person
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
