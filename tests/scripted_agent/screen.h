/// Draws like real agents: the conversation above, a composer or a dialog at the bottom.
///
/// The composer wraps its text and shows the end of a long one. On the alternate screen each draw repaints everything.
/// Inline, finished lines scroll off and only the live part at the bottom is repainted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scripted_agent/options.h"
#include "scripted_agent/script.h"

namespace relay::scripted_agent {

/// The live part of the screen.
struct View {
  std::string reply;    // so far
  std::string spinner;  // empty when idle
  std::string composer;
  const Dialog* dialog = nullptr;  // instead of the composer
  std::size_t chosen = 0;
  std::string hint;
};

class Screen {
 public:
  explicit Screen(Options::Surface surface) : surface_{surface} {}

  void resize(std::size_t columns, std::size_t rows);
  /// Adds to the conversation, for the next `draw`.
  void add_entry(std::string_view text, std::string_view first_prefix, std::string_view next_prefix = "  ");
  /// The bytes that draw this view.
  std::string draw(const View& view);
  /// The bytes that clear the live part, before plain lines.
  std::string erase();
  /// Forces a full repaint, after a resize or foreign output.
  void forget() { drawn_entries_ = 0, cursor_row_ = 0, must_clear_ = true; }

 private:
  struct Entry {
    std::string text, first_prefix, next_prefix;
  };
  static constexpr std::size_t kMaxEntries = 500;

  std::vector<std::string> lines_of(const Entry& entry) const;
  std::vector<std::string> live_lines(const View& view, std::size_t& cursor_row, std::size_t& cursor_column) const;
  std::string draw_all(std::vector<std::string> live, std::size_t cursor_row, std::size_t cursor_column) const;

  Options::Surface surface_;
  std::size_t columns_ = 80, rows_ = 24;
  std::vector<Entry> entries_;
  std::size_t drawn_entries_ = 0;  // inline: these have scrolled off
  std::size_t cursor_row_ = 0;     // inline: rows of the live part above the cursor
  bool must_clear_ = false;
};

}  // namespace relay::scripted_agent
