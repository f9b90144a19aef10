#include "scripted_agent/agent.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/format.h"
#include "scripted_agent/wrap.h"

namespace relay::scripted_agent {
namespace {

using Kind = Key::Kind;

constexpr Millis kFrame{100};
constexpr std::size_t kFramesPerTitle = 5;
constexpr std::size_t kFloodPieceBytes = 64 * 1024;
constexpr std::size_t kMegabyte = 1024 * 1024;
constexpr std::string_view kFloodCommand = "/flood ";
constexpr std::array<std::string_view, 4> kSpinner{"✶", "✸", "✹", "✺"};
constexpr std::array<std::string_view, 2> kBusyTitle{"◐", "◑"};

std::string filled(std::string text, std::string_view name, std::string_view value) {
  if (const auto at = text.find(name); at != std::string::npos) text.replace(at, name.size(), value);
  return text;
}

/// A paste with its line ends normalized, as the composer stores it.
std::string with_newlines(std::string_view text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    clean += text[i] == '\r' ? '\n' : text[i];
  }
  return clean;
}

std::string folded_name(std::size_t number) { return format("[Pasted text #{}]", number); }

void drop_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

Agent::Agent(Options options, Script script, const Journal& journal)
    : options_{std::move(options)}, script_{std::move(script)}, journal_{journal}, screen_{options_.surface} {}

void Agent::start(std::size_t columns, std::size_t rows) {
  journal_.note("start", {{"columns", columns}, {"rows", rows}, {"pid", ::getpid()}});
  if (options_.surface == Options::Surface::Alternate) output_ += "\x1b[?1049h";
  if (options_.paste == Options::Paste::Bracketed) output_ += "\x1b[?2004h";
  output_ += "\x1b[?1004h";
  screen_.resize(columns, rows);
  screen_.add_entry("Scripted agent. /exit leaves.", "");
  enter(State::Idle);
  reach(Moment::When::Start, {});
  draw();
}

std::string Agent::farewell() {
  auto bytes = screen_.erase() + "\x1b[?1004l";
  if (options_.paste == Options::Paste::Bracketed) bytes += "\x1b[?2004l";
  if (options_.surface == Options::Surface::Alternate) bytes += "\x1b[?1049l";
  return bytes + "Goodbye.\r\n";
}

// Keys

void Agent::on_key(const Key& key, SteadyTime now) {
  switch (key.kind) {
    case Kind::FocusIn:
    case Kind::FocusOut: return journal_.note("focus", {{"in", key.kind == Kind::FocusIn}});
    case Kind::Reply: return journal_.note("reply_of_terminal", {{"text", key.text}});
    default: break;
  }
  if (key.kind != Kind::ControlC) control_c_seen_ = false;
  if (key.kind == Kind::Paste) reach(Moment::When::BeforePaste, now);
  if (state_ == State::Blocked)
    key_in_dialog(key, now);
  else
    key_in_composer(key, now);
  if (!finished()) draw();
}

void Agent::key_in_composer(const Key& key, SteadyTime now) {
  view_.hint.clear();
  switch (key.kind) {
    case Kind::Text:
      view_.composer += key.text;
      last_text_ = now;
      return;
    case Kind::Paste: return paste(key.text, now);
    case Kind::Backspace: return drop_last_character(view_.composer);
    case Kind::ControlU: return view_.composer.clear();
    case Kind::Enter: return on_enter(now);
    case Kind::ControlC: return on_control_c();
    case Kind::Escape:
      if (state_ != State::Idle) interrupt();
      return;
    default: return;
  }
}

void Agent::paste(const std::string& text, SteadyTime now) {
  journal_.note("paste", {{"text", text}});
  if (options_.fold > 0 && width(text) > options_.fold) {
    folded_.push_back(with_newlines(text));
    view_.composer += folded_name(folded_.size());
  } else {
    view_.composer += with_newlines(text);
  }
  last_text_ = now;
  reach(Moment::When::AfterPaste, now);
}

void Agent::on_enter(SteadyTime now) {
  if (last_text_ && now - *last_text_ < options_.burst) {
    view_.composer += '\n';
    return journal_.note("enter_joined_text");
  }
  if (options_.swallowed_enters > 0) {
    --options_.swallowed_enters;
    return journal_.note("enter_swallowed");
  }
  if (view_.composer.empty()) return;
  auto text = std::exchange(view_.composer, {});
  for (std::size_t i = 0; i < folded_.size(); ++i) text = filled(text, folded_name(i + 1), folded_[i]);
  folded_.clear();
  submit(text, now);
}

void Agent::on_control_c() {
  if (state_ != State::Idle) return interrupt();
  view_.composer.clear();
  if (std::exchange(control_c_seen_, true)) return leave(0, "control-c");
  view_.hint = "Press Ctrl-C again to exit";
}

void Agent::key_in_dialog(const Key& key, SteadyTime now) {
  const auto last = view_.dialog->options.size() - 1;
  switch (key.kind) {
    case Kind::Up: view_.chosen -= view_.chosen > 0 ? 1 : 0; return;
    case Kind::Down: view_.chosen += view_.chosen < last ? 1 : 0; return;
    case Kind::Enter: {
      const auto& option = view_.dialog->options[view_.chosen];
      journal_.note("answer", {{"decision", "approved"}, {"number", view_.chosen + 1}, {"option", option}});
      return answer(interrupted_ ? option : filled(answer_.reply, "{answer}", option), now);
    }
    case Kind::Escape:
    case Kind::ControlC:
      journal_.note("answer", {{"decision", "denied"}});
      return answer(interrupted_ ? "No." : answer_.denied, now);
    default: return journal_.note("swallowed", {{"text", key.text}});
  }
}

void Agent::answer(const std::string& text, SteadyTime now) {
  if (!interrupted_) return start_reply(text, now);
  view_.dialog = nullptr;
  screen_.add_entry(text, "⎿ ");
  enter(*std::exchange(interrupted_, std::nullopt));
}

// Moments

void Agent::reach(Moment::When when, SteadyTime now) {
  const auto next = std::ranges::find(script_.moments, when, &Moment::when);
  if (next == script_.moments.end() || moment_at_ || state_ == State::Blocked) return;
  moment_ = std::move(*next);
  script_.moments.erase(next);
  if (moment_.after.count() > 0)
    moment_at_ = now + moment_.after;
  else
    happen();
}

void Agent::happen() {
  moment_at_.reset();
  if (moment_.exit_code) return leave(*moment_.exit_code, "moment");
  interrupted_ = state_;
  open_dialog(*moment_.dialog);
}

// Turns

void Agent::submit(const std::string& text, SteadyTime now) {
  if (text.starts_with('!')) {  // for the shell
    screen_.add_entry(text, "");
    return journal_.note("shell", {{"text", text}});
  }
  journal_.note("submit", {{"text", text}, {"state", state_ == State::Idle ? "idle" : "working"}});
  if (state_ != State::Idle) {
    if (pending_.size() < kMaxPendingPrompts) pending_.push_back(text);
    return;
  }
  start_turn(text, now);
}

void Agent::leave(int code, std::string_view by) {
  exit_code_ = code;
  journal_.note("exit", {{"by", json::string_view{by.data(), by.size()}}, {"code", code}});
}

void Agent::start_turn(const std::string& prompt, SteadyTime now) {
  if (prompt == "/exit") return leave(0, "command");
  screen_.add_entry(prompt, "> ");
  if (prompt.starts_with(kFloodCommand)) {
    std::size_t megabytes = 0;
    std::from_chars(prompt.data() + kFloodCommand.size(), prompt.data() + prompt.size(), megabytes);
    output_ += screen_.draw(view_) + screen_.erase();
    flood_bytes_ = megabytes * kMegabyte;
    return;
  }
  prompt_ = prompt;
  answer_ = script_.find_answer(prompt);
  work_until_ = now + answer_.work.value_or(options_.work);
  next_frame_ = now;
  enter(State::Working);
}

void Agent::on_time(SteadyTime now) {
  if (moment_at_ && now >= *moment_at_) {
    happen();
    return finished() ? void() : draw();
  }
  switch (state_) {
    case State::Idle:
    case State::Blocked: return;
    case State::Working:
      if (now >= work_until_) {
        if (answer_.dialog)
          open_dialog(*answer_.dialog);
        else
          start_reply(answer_.reply, now);
      } else if (now >= next_frame_) {
        next_frame_ = now + kFrame;
        view_.spinner = format("{} Working… (esc to interrupt)", kSpinner[frame_ % kSpinner.size()]);
        if (options_.titles == Options::Show::Yes && frame_ % kFramesPerTitle == 0)
          output_ += format("\x1b]0;{} scripted\a", kBusyTitle[frame_ / kFramesPerTitle % kBusyTitle.size()]);
        ++frame_;
      }
      break;
    case State::Replying:
      if (now >= next_chunk_) show_more(now);
      break;
  }
  draw();
}

void Agent::open_dialog(const Dialog& dialog) {
  view_.dialog = &dialog;
  view_.chosen = 0;
  journal_.note("dialog", {{"title", dialog.title}});
  enter(State::Blocked);
}

void Agent::start_reply(const std::string& text, SteadyTime now) {
  view_.dialog = nullptr;
  reply_ = filled(text, "{text}", prompt_);
  enter(State::Replying);
  show_more(now);
}

void Agent::show_more(SteadyTime now) {
  const auto shown = width(view_.reply) + answer_.chunk_characters;
  if (answer_.chunk_characters == 0 || shown >= width(reply_)) return become_idle(now);
  view_.reply = reply_.substr(0, reply_.size() - tail(reply_, width(reply_) - shown).size());
  next_chunk_ = now + answer_.chunk_pause;
}

void Agent::become_idle(SteadyTime now) {
  view_.reply.clear();
  screen_.add_entry(reply_, "● ");
  journal_.note("replied", {{"text", reply_}});
  enter(State::Idle);
  if (answer_.exit_code) return leave(*answer_.exit_code, "script");
  if (pending_.empty()) return;
  const auto next = pending_.front();
  pending_.pop_front();
  start_turn(next, now);
}

void Agent::interrupt() {
  journal_.note("interrupted");
  view_.reply.clear();
  pending_.clear();
  screen_.add_entry("Interrupted.", "⎿ ");
  enter(State::Idle);
}

void Agent::enter(State state) {
  state_ = state;
  if (state != State::Working) view_.spinner.clear();
  if (options_.titles == Options::Show::Yes && state != State::Working && state != State::Replying)
    output_ += "\x1b]0;✳ scripted\a";
  if (options_.status == Options::Show::No) return;
  switch (state) {
    case State::Idle: output_ += "\x1b]7501;state=idle:app=scripted\a"; return;
    case State::Working: output_ += "\x1b]7501;state=working:app=scripted\a"; return;
    case State::Blocked:
      output_ += view_.dialog->kind == Dialog::Kind::Question
                     ? "\x1b]7501;state=blocked:app=scripted:kind=question\a"
                     : "\x1b]7501;state=blocked:app=scripted:kind=permission\a";
      return;
    case State::Replying: return;
  }
}

// Output

void Agent::on_resize(std::size_t columns, std::size_t rows) {
  journal_.note("resize", {{"columns", columns}, {"rows", rows}});
  screen_.resize(columns, rows);
  draw();
}

void Agent::draw() {
  if (flood_bytes_ == 0) output_ += screen_.draw(view_);
}

std::optional<SteadyTime> Agent::wake_at() const {
  const auto or_moment = [this](SteadyTime at) { return moment_at_ ? std::min(at, *moment_at_) : at; };
  switch (state_) {
    case State::Idle:
    case State::Blocked: return moment_at_;
    case State::Working: return or_moment(std::min(work_until_, next_frame_));
    case State::Replying: return or_moment(next_chunk_);
  }
  return std::nullopt;
}

std::string Agent::take_output() {
  if (!output_.empty() || flood_bytes_ == 0) return std::exchange(output_, {});
  std::string piece;
  while (piece.size() < kFloodPieceBytes && flood_bytes_ > 0) {
    const auto line = format("flood {:08} {:x>60}\r\n", ++flood_line_, "");
    piece += line;
    flood_bytes_ -= std::min(flood_bytes_, line.size());
  }
  if (flood_bytes_ == 0) {
    journal_.note("flooded", {{"lines", flood_line_}});
    draw();
  }
  return piece;
}

}  // namespace relay::scripted_agent
