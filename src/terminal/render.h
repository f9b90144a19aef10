/// A screen as bytes: writing them to a terminal reproduces content and state.
#pragma once

#include <string>

namespace relay::terminal {

class Screen;

/// Draws both screens, the cursor, the title and every mode on a terminal of the same size, for a client that attaches.
/// Fed to a new Screen, the result equals the old one. Not included: scrollback, the title stack.
std::string render(const Screen& screen);

/// Disables the modes that a program left enabled: alternate screen, mouse, paste, focus, keyboard protocols, hidden
///   cursor, colors, scroll region, character sets. Pops only what this program pushed on the keyboard's stack: the
///   entries below belong to the surrounding shell. No effect on a terminal in its initial state.
std::string restore_sequence(const Screen& screen);

}  // namespace relay::terminal
