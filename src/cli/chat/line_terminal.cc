#include "cli/chat/line_terminal.h"

#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "cli/chat/word_completion.h"
#include "cli/framework/output.h"
#include "cli/render/text.h"

namespace relay::cli {
namespace {

constexpr std::string_view kPasteInBrackets = "\x1b[?2004h";
constexpr std::string_view kPastePlain = "\x1b[?2004l";
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";
constexpr std::string_view kBell = "\a";
constexpr std::size_t kMaxChoicesShown = 100;

void write_terminal(std::string_view bytes) { (void)write_fully(STDOUT_FILENO, bytes); }

/// A raw terminal does not return by itself.
std::string with_returns(std::string_view text) {
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
  RELAY_TRY(line->terminal_->set_restore_bytes(kPastePlain));
  RELAY_TRY(line->terminal_->enter_raw());
  line->view_.resize(view_size(line->terminal_->size()));
  write_terminal(kPasteInBrackets);
  write_to_terminal_by([at = line.get()](std::string_view text) { at->write_above(text); });
  line->draw();
  return line;
}

LineTerminal::~LineTerminal() {
  if (!terminal_) return;
  write_to_terminal_by({});
  write_terminal(view_.erase());
  terminal_->leave_raw();
}

LineView::Prompt LineTerminal::prompt() const {
  const auto& search = editor_.search();
  if (!search) return listener_.prompt();
  const auto text = relay::format("({}: {}) ", editor_.search_failed() ? "not found" : "search", *search);
  const auto shown = truncate(sanitize(text, Lines::Join), view_.size().columns / 2);
  return {shown, shown};
}

void LineTerminal::draw() { write_terminal(view_.draw(prompt(), editor_.text(), editor_.cursor())); }

void LineTerminal::write_above(std::string_view text) {
  auto bytes = view_.erase();  // first: drawing goes on from there
  bytes += with_returns(text);
  bytes += view_.draw(prompt(), editor_.text(), editor_.cursor());
  write_terminal(bytes);
}

void LineTerminal::on_typed(std::string_view bytes) {
  take(splitter_.feed(bytes, loop_.now().steady));
  await_rest();
}

/// Only time tells a lone Escape from the beginning of a longer key.
void LineTerminal::await_rest() {
  const auto due = splitter_.deadline();
  if (!due) return rest_timer_.reset();
  rest_timer_ = loop_.at(*due, [this] {
    take(splitter_.expire(loop_.now().steady));
    await_rest();
  });
}

void LineTerminal::take(const std::vector<terminal::InputEvent>& pieces) {
  bool changed = false;
  for (const auto& piece : pieces) {
    const bool had_text = !editor_.empty();
    const auto edited = take_one(piece);
    changed = changed || edited == Edited::Line;
    if (edited != Edited::Line && edited != Edited::Nothing) {
      act_on(edited);
      changed = edited == Edited::Entered;
    }
    if (had_text && editor_.empty()) {
      listener_.on_emptied();
      changed = true;
    }
  }
  if (changed) draw();
}

Edited LineTerminal::take_one(const terminal::InputEvent& piece) {
  using terminal::InputKind;
  switch (piece.kind) {
    case InputKind::Text: return editor_.insert(piece.text);
    case InputKind::Enter: return editor_.press(piece.bytes == "\r" ? EditorKey::Enter : editor_key(piece.bytes));
    case InputKind::Key: return editor_.press(editor_key(piece.bytes));
    case InputKind::Paste:
      if (piece.paste_start) paste_.clear();
      if (paste_.size() <= kMaxEditedBytes) paste_ += piece.text;  // one that is longer is refused as a whole
      return piece.paste_end ? editor_.insert(std::exchange(paste_, {})) : Edited::Nothing;
    case InputKind::KeyRelease:
    case InputKind::Reply:
    case InputKind::Mouse:
    case InputKind::Focus: return Edited::Nothing;
  }
  return Edited::Nothing;
}

void LineTerminal::act_on(Edited edited) {
  switch (edited) {
    case Edited::Line:
    case Edited::Nothing: return;
    case Edited::Refused: draw(), write_terminal(kBell); return;
    case Edited::Entered: return enter();
    case Edited::Ended: return listener_.on_end_of_input();
    case Edited::Left: return listener_.on_leave();
    case Edited::Cleared: return draw();
    case Edited::Complete: return listener_.on_complete(std::string_view{editor_.text()}.substr(0, editor_.cursor()));
    case Edited::ClearScreen:
      view_.forget();
      write_terminal(kClearScreen);
      return draw();
    case Edited::Suspend: write_terminal(view_.erase()); return terminal_->suspend();
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
                            const std::vector<std::string>& candidates, std::string_view behind) {
  const auto now = std::string_view{editor_.text()}.substr(0, editor_.cursor());
  if (now != before_cursor || length > now.size() || editor_.search()) return;  // it was typed on meanwhile
  const auto word = now.substr(now.size() - length);
  auto done = complete_word(word, candidates);
  const bool is_longer = done.text.size() > length;
  const bool is_whole = done.choices.size() == 1;
  if (done.choices.empty()) return write_terminal(kBell);
  editor_.replace_before_cursor(now.size() - length, is_whole ? done.text + std::string{behind} : done.text);
  if (is_whole || is_longer) return draw();
  if (done.choices.size() > kMaxChoicesShown) {
    const auto more = done.choices.size() - kMaxChoicesShown;
    done.choices.resize(kMaxChoicesShown);
    done.choices.push_back(relay::format("and {} more", more));
  }
  std::string list;
  for (const auto& choice : done.choices) list += sanitize(choice, Lines::Join) + "  ";
  std::string above;
  for (const auto& row : wrap(list, std::max<std::size_t>(view_.size().columns, 2) - 1)) above += row + "\n";
  write_above(above);
}

void LineTerminal::on_resized(pty::WindowSize size) {
  view_.resize(view_size(size));
  write_terminal(view_.erase());  // whole rows: a terminal remembers of each whether it was broken
  draw();
}

void LineTerminal::on_continued() {
  view_.forget();
  write_terminal(kPasteInBrackets);
  draw();
}

void LineTerminal::on_closed(const std::string&) { listener_.on_leave(); }

}  // namespace relay::cli
