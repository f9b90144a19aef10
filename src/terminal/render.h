/// A screen as bytes: what to write to a terminal so that it shows the same and behaves the same.
#pragma once

#include <string>

namespace relay::terminal {

class Screen;

/// Draws both screens, the cursor, the title and every mode on a terminal of the same size, for somebody who attaches
/// in the middle. Fed to a new Screen the result is equal to the old one. Not contained: scrollback, titles that were
/// pushed.
std::string render(const Screen& screen);

/// Switches off what a program left on when it ended: alternate screen, mouse, paste, focus, keyboard protocols, hidden
/// cursor, colours, scroll region, character sets. Only what this program pushed on the keyboard's stack is popped: what
/// lies below belongs to the shell around us. Without effect on a terminal in its usual state.
std::string restore_sequence(const Screen& screen);

}  // namespace relay::terminal
