/// Builds tmux commands for control mode, and parses the small grammars of the replies. Pure.
///
/// Bytes are typed by `set-buffer`, with every special byte written as \ooo, then `paste-buffer -d -r` without -p.
/// Tested with tmux 3.3a and all 256 values:
/// - `paste-buffer` writes into the program's terminal whatever mode the pane shows. -r keeps line feeds; -p would add
/// tmux's brackets, and ours are in the bytes already. From 3.7 on it makes control bytes visible without -S, which
/// older versions reject: the server reports which it is.
/// - `send-keys -H` is as exact, but while a user scrolls in the pane it drives the scrolling instead of the program.
/// - `load-buffer` from a file is as exact, but writes typed text (passwords too) to disk.
/// A zero byte (Ctrl-Space) cannot be in an argument, so it alone goes by `send-keys -H`, and a pane that scrolls loses
/// it.
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

/// Parses the output of `tmux -V`: "tmux 3.3a", "tmux next-3.4". A version without a number ("tmux master") counts as
/// the newest.
std::optional<Version> parse_version(std::string_view line);

/// One quoted word of a command, for any bytes but zero.
std::string quoted(std::string_view word);

/// The target of a paste.
struct PasteTarget {
  PaneNumber pane = 0;
  std::string buffer;                 // the name of a paste buffer that no other client uses
  bool needs_raw_paste_flag = false;  // paste-buffer needs -S to keep bytes unchanged
};

/// The command lines that type these bytes. Bytes between two zero bytes are collected in the buffer and pasted by one
/// command, so that no keys of the user come between.
std::vector<std::string> paste_commands(std::string_view bytes, const PasteTarget& target);

/// From the output of `list-commands paste-buffer`: "paste-buffer (pasteb) [-dprS] [-s separator] …".
bool needs_raw_paste_flag(std::string_view usage);

/// A valid tmux session name: letters, digits, - and _. If other characters were replaced by _, a part of the hash of
///   the agent's name follows, so that a.b and a_b differ.
std::string session_name(std::string_view agent);

/// The size of the pane in a layout like "bb62,159x48,0,0{79x48,0,0,1,79x48,80,0,2}".
std::optional<pty::WindowSize> size_in_layout(std::string_view layout, PaneNumber pane);

/// Parses "90 20", columns and rows.
std::optional<pty::WindowSize> parse_size(std::string_view text);

/// Bytes that draw a captured screen, from `display-message` with kCaptureFormat and `capture-pane -p -e`.
inline constexpr std::string_view kCaptureFormat = "#{cursor_x} #{cursor_y} #{alternate_on}";
std::string redraw_bytes(std::string_view place, std::string_view capture);

}  // namespace relay::tmux
