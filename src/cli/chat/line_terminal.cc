#include "cli/chat/line_terminal.h"

#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "cli/chat/word_completion.h"
#include "cli/framework/output.h"
#include "cli/render/text.h"

namespace relay::cli {
namespace {

constexpr std::string_view kBracketedPasteOn = "\x1b[?2004h";
constexpr std::string_view kBracketedPasteOff = "\x1b[?2004l";
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";
constexpr std::string_view kBell = "\a";
constexpr std::size_t kMaxChoicesShown = 100;

void write_terminal(std::string_view bytes) { (void)write_fully(STDOUT_FILENO, bytes); }

/// A raw terminal needs CR before LF.
std::string with_carriage_returns(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  if (!text.ends_with('\n')) out += "\r\n";
  return out;
}

ViewSize view_size(pty::WindowSize size) { return {size.columns, size.rows}; }

}  // namespace

Result<std::unique_ptr<LineTerminal>> LineTerminal::open(net::AsioLoop& loop, LineTerminalListener& listener) {
  std::unique_ptr<LineTerminal> line{new LineTerminal{loop, listener}};
  line->terminal_ = RELAY_TRY(pty::UserTerminal::open(loop, *line));
  RELAY_TRY(line->terminal_->set_restore_bytes(kBracketedPasteOff));
  RELAY_TRY(line->terminal_->enter_raw());
  line->view_.resize(view_size(line->terminal_->size()));
  write_terminal(kBracketedPasteOn);
  set_terminal_writer([at = line.get()](std::string_view text) { at->write_above(text); });
  line->draw();
  return line;
}

LineTerminal::~LineTerminal() {
  if (!terminal_) return;
  set_terminal_writer({});
  write_terminal(view_.erase());
  terminal_->leave_raw();
}

LineView::Prompt LineTerminal::prompt() const {
  const auto& search = editor_.search();
  if (!search) return listener_.prompt();
  const auto text = relay::format("({}: {}) ", editor_.search_failed() ? "not found" : "search", *search);
  const auto name = truncate(sanitize(text, Lines::Join), view_.size().columns / 2);
  return {name, name};
}

void LineTerminal::draw() { write_terminal(view_.draw(prompt(), editor_.text(), editor_.cursor())); }

void LineTerminal::write_above(std::string_view text) {
  auto bytes = view_.erase();  // first: drawing starts at the line
  bytes += with_carriage_returns(text);
  bytes += view_.draw(prompt(), editor_.text(), editor_.cursor());
  write_terminal(bytes);
}

void LineTerminal::on_typed(std::string_view bytes) {
  on_pieces(splitter_.feed(bytes, loop_.now().steady));
  wait_for_key_end();
}

/// Only a timeout distinguishes a lone Escape from the start of a longer key sequence.
void LineTerminal::wait_for_key_end() {
  const auto due = splitter_.deadline();
  if (!due) return key_timer_.reset();
  key_timer_ = loop_.at(*due, [this] {
    on_pieces(splitter_.expire(loop_.now().steady));
    wait_for_key_end();
  });
}

void LineTerminal::on_pieces(const std::vector<terminal::InputEvent>& pieces) {
  bool changed = false;
  for (const auto& piece : pieces) {
    const bool had_text = !editor_.empty();
    const auto edited = take_one(piece);
    changed = changed || edited == EditResult::Line;
    if (edited != EditResult::Line && edited != EditResult::Nothing) {
      act_on(edited);
      changed = edited == EditResult::Entered;
    }
    if (had_text && editor_.empty()) {
      listener_.on_emptied();
      changed = true;
    }
  }
  if (changed) draw();
}

EditResult LineTerminal::take_one(const terminal::InputEvent& piece) {
  using terminal::InputKind;
  switch (piece.kind) {
    case InputKind::Text: return editor_.insert(piece.text);
    case InputKind::Enter: return editor_.press(piece.bytes == "\r" ? EditorKey::Enter : parse_editor_key(piece.bytes));
    case InputKind::Key: return editor_.press(parse_editor_key(piece.bytes));
    case InputKind::Paste:
      if (piece.paste_start) paste_.clear();
      if (paste_.size() <= kMaxEditedBytes) paste_ += piece.text;  // a longer paste is refused as a whole
      return piece.paste_end ? editor_.insert(std::exchange(paste_, {})) : EditResult::Nothing;
    case InputKind::KeyRelease:
    case InputKind::Reply:
    case InputKind::Mouse:
    case InputKind::Focus: return EditResult::Nothing;
  }
  return EditResult::Nothing;
}

void LineTerminal::act_on(EditResult edited) {
  switch (edited) {
    case EditResult::Line:
    case EditResult::Nothing: return;
    case EditResult::Refused: draw(), write_terminal(kBell); return;
    case EditResult::Entered: return enter();
    case EditResult::Ended: return listener_.on_end_of_input();
    case EditResult::Left: return listener_.on_leave();
    case EditResult::Cleared: return draw();
    case EditResult::Complete:
      return listener_.on_complete(std::string_view{editor_.text()}.substr(0, editor_.cursor()));
    case EditResult::ClearScreen:
      view_.forget();
      write_terminal(kClearScreen);
      return draw();
    case EditResult::Suspend: write_terminal(view_.erase()); return terminal_->suspend();
  }
}

void LineTerminal::enter() {
  const auto before = prompt();
  auto line = editor_.take();
  while (line.ends_with('\n')) line.pop_back();  // of a paste
  write_terminal(line.empty() ? view_.erase() : view_.leave(before, line));
  listener_.on_entered(line);
}

void LineTerminal::complete(std::string_view before_cursor, std::size_t length,
                            const std::vector<std::string>& candidates, std::string_view suffix) {
  const auto now = std::string_view{editor_.text()}.substr(0, editor_.cursor());
  if (now != before_cursor || length > now.size() || editor_.search()) return;  // the user has typed since
  const auto word = now.substr(now.size() - length);
  auto completion = complete_word(word, candidates);
  const bool is_longer = completion.text.size() > length;
  const bool is_whole = completion.choices.size() == 1;
  if (completion.choices.empty()) return write_terminal(kBell);
  editor_.replace_before_cursor(now.size() - length,
                                is_whole ? completion.text + std::string{suffix} : completion.text);
  if (is_whole || is_longer) return draw();
  if (completion.choices.size() > kMaxChoicesShown) {
    const auto more = completion.choices.size() - kMaxChoicesShown;
    completion.choices.resize(kMaxChoicesShown);
    completion.choices.push_back(relay::format("and {} more", more));
  }
  std::string list;
  for (const auto& choice : completion.choices) list += sanitize(choice, Lines::Join) + "  ";
  std::string above;
  for (const auto& row : wrap(list, std::max<std::size_t>(view_.size().columns, 2) - 1)) above += row + "\n";
  write_above(above);
}

void LineTerminal::on_resized(pty::WindowSize size) {
  view_.resize(view_size(size));
  write_terminal(view_.erase());  // whole rows: a terminal remembers which rows it wrapped
  draw();
}

void LineTerminal::on_continued() {
  view_.forget();
  write_terminal(kBracketedPasteOn);
  draw();
}

void LineTerminal::on_closed(const std::string&) { listener_.on_leave(); }

}  // namespace relay::cli
