/// The sentences we say to tmux in control mode, and the small grammars of what it answers. Pure.
///
/// How bytes are typed: `set-buffer` with every byte that could mean something written as \ooo, then `paste-buffer -d -r`
/// without -p. Tried against tmux 3.3a with all 256 values:
/// - `paste-buffer` writes into the program's terminal whatever the pane shows. -r keeps line feeds; -p would add
///   brackets of tmux's own, and ours are in the bytes already. From 3.7 on it makes control bytes visible unless told -S,
///   which older ones reject: the server itself says which it is.
/// - `send-keys -H` is as exact, but while a person scrolls in the pane it drives the scrolling instead of the program.
/// - `load-buffer` from a file is as exact, but leaves what a person types (passwords too) on a disk.
/// A zero byte (Ctrl-Space) fits no argument, so it alone goes by `send-keys -H`, and is lost to a pane that scrolls.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pty/window_size.h"
#include "tmux/control_parser.h"

namespace relay::tmux {

struct Version {
  int major = 0;
  int minor = 0;
  auto operator<=>(const Version&) const = default;
};

/// From the answer to `tmux -V`: "tmux 3.3a", "tmux next-3.4". One that has no number ("tmux master") is taken for newer
/// than all.
std::optional<Version> parse_version(std::string_view line);

/// One word of a command, whatever bytes it holds but zero.
std::string quoted(std::string_view word);

/// Where and how bytes are typed.
struct PasteTarget {
  PaneNumber pane = 0;
  std::string buffer;              // the name of a paste buffer nobody else uses
  bool pastes_by_request = false;  // bytes as they are only by -S
};

/// The lines that type these bytes, each one command. What stands between two zero bytes is gathered in the buffer and
/// pasted by one command, so that nothing a person types comes between.
std::vector<std::string> paste_commands(std::string_view bytes, const PasteTarget& keyboard);

/// From the answer to `list-commands paste-buffer`: "paste-buffer (pasteb) [-dprS] [-s separator] …".
bool pastes_by_request(std::string_view usage);

/// A name tmux takes as it is: letters, digits, - and _. Where anything else had to become _, a piece of the hash of
/// the agent's name follows, so that a.b and a_b do not meet.
std::string session_name(std::string_view agent);

/// How large that pane is in a layout like "bb62,159x48,0,0{79x48,0,0,1,79x48,80,0,2}".
std::optional<pty::WindowSize> size_in_layout(std::string_view layout, PaneNumber pane);

/// "90 20", columns and rows.
std::optional<pty::WindowSize> parse_size(std::string_view text);

/// A picture of a screen as bytes that draw it: from `display-message` with kPictureFormat, and `capture-pane -p -e`.
inline constexpr std::string_view kPictureFormat = "#{cursor_x} #{cursor_y} #{alternate_on}";
std::string redrawing(std::string_view place, std::string_view capture);

}  // namespace relay::tmux
