/// Follows one file of lines from its beginning or its present end, and hands up every line once it is whole.
///
/// Why every line says whether it is earlier: a reader must have seen what was written before us to know it again when
///   the agent repeats it, but its words were meant for another time.
/// Invariants: lines come in order, each once; a last line without its end waits. When the file is cut short or another
///   one is put in its place, `on_restart` comes first, then its lines from the beginning. A file that is gone for kGoneTime
///   is told once, after its last line; it is let go of, and followed again when it comes back. At most one line is held, up to kMaxLine; a longer one is left out and told. The loop is never held longer than for one piece of kPiece bytes.
/// Ownership: the listener outlives the tail; the tail may be destroyed from inside any call to it.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "net/file_watch.h"
#include "transcripts/limits.h"

namespace relay::net {
class AsioLoop;
class Timer;
}  // namespace relay::net

namespace relay::transcripts {

struct Line {
  std::string_view text;     // without its end; valid during the call
  std::uint64_t offset = 0;  // of its first byte in the file
  bool preexisting = false;  // it was there, whole, when following began
};

class TailListener {
 public:
  virtual ~TailListener() = default;
  virtual void on_line(const Line& line) = 0;
  virtual void on_restart() = 0;
  /// The file cannot be read, in one sentence. It is tried again when it changes.
  virtual void on_problem(const std::string& sentence) = 0;
  /// The file was removed. When one comes in its place, `on_restart` is told, and then its lines.
  virtual void on_gone() {}
  /// One line was left out, in one sentence; the next ones come.
  virtual void on_line_skipped(const std::string& sentence) { on_problem(sentence); }
};

class Tail {
 public:
  enum class From : std::uint8_t { Beginning, End };
  static constexpr std::size_t kPiece = 256U << 10;
  static constexpr Millis kGoneTime{500};  // a file that is replaced by removing the old one is missing for a moment

  /// The file may come later; then it is followed from its beginning.
  static Result<std::unique_ptr<Tail>> follow(net::AsioLoop& loop, std::string path, From from, TailListener& listener);
  ~Tail();
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

 private:
  Tail(net::AsioLoop& loop, std::string path, TailListener& listener);

  void go_on();
  void read_piece();
  bool open_file();
  bool open_quietly();
  void start_at_end();
  bool was_cut() const;
  bool is_another() const;
  bool is_gone() const;
  void wait_for_return();
  void restart();
  void take(std::string_view bytes);
  void end_line(std::string_view last_part);
  void complain(std::string sentence);

  net::AsioLoop& loop_;
  std::string path_;
  TailListener& listener_;
  std::unique_ptr<net::FileWatch> watch_;
  UniqueFd file_;
  std::uint64_t read_ = 0;           // bytes taken from the file
  std::uint64_t line_begins_ = 0;    // where the line that is held begins
  std::uint64_t line_bytes_ = 0;     // how long it is so far; when longer than kMaxLine it is being left out
  std::uint64_t earlier_until_ = 0;  // what was there when following began
  std::string held_;                 // the beginning of a line
  std::string last_read_;            // a few bytes before `read_`: others in their place mean another content
  bool scheduled_ = false;
  bool gone_ = false;  // and told
  std::unique_ptr<net::Timer> gone_timer_;
  std::string complaint_;
  Lifetime lifetime_;
};

}  // namespace relay::transcripts
