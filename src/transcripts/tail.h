/// Follows a file of lines from its start or its current end, and delivers every complete line.
///
/// Why every line has `preexisting`: a reader must see earlier lines to recognize repetitions, but their commands must
/// not be executed again.
/// Invariants: lines arrive in order, each once; an incomplete last line is held. When the file is truncated or
///   replaced, `on_restart` is called first, then its lines from the start. A file that is missing for kRemovalDelay is
///   reported once, after its last line; it is closed, and followed again when it returns. At most one line is held, up
///   to kMaxLine; a longer one is skipped and reported. The loop is blocked for at most one chunk of kChunkBytes.
/// Ownership: the listener outlives the tail; the tail may be destroyed inside any call to it.
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
  bool preexisting = false;  // it was complete when following started
};

class TailListener {
 public:
  virtual ~TailListener() = default;
  virtual void on_line(const Line& line) = 0;
  virtual void on_restart() = 0;
  /// The file cannot be read; one sentence. Retried when the file changes.
  virtual void on_problem(const std::string& message) = 0;
  /// The file was removed. If another one replaces it, `on_restart` is called, then its lines.
  virtual void on_removed() {}
  /// One line was skipped; one sentence. The next lines follow.
  virtual void on_line_skipped(const std::string& message) { on_problem(message); }
};

class Tail {
 public:
  enum class From : std::uint8_t { Start, End };
  static constexpr std::size_t kChunkBytes = 256U << 10;
  static constexpr Millis kRemovalDelay{500};  // a file that is replaced by remove and create is missing briefly

  /// The file may be created later; then it is followed from its start.
  static Result<std::unique_ptr<Tail>> follow(net::AsioLoop& loop, std::string path, From from, TailListener& listener);
  ~Tail();
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

 private:
  Tail(net::AsioLoop& loop, std::string path, TailListener& listener);

  void schedule_read();
  void read_chunk();
  bool open_file();
  bool try_open();
  void start_at_end();
  bool was_truncated() const;
  bool was_replaced() const;
  bool was_removed() const;
  void start_removal_timer();
  void restart();
  void take(std::string_view bytes);
  void end_line(std::string_view last_part);
  void report_problem(std::string message);

  net::AsioLoop& loop_;
  std::string path_;
  TailListener& listener_;
  std::unique_ptr<net::FileWatch> watch_;
  UniqueFd file_;
  std::uint64_t read_ = 0;               // bytes read from the file
  std::uint64_t line_start_ = 0;         // offset of the partial line
  std::uint64_t line_bytes_ = 0;         // its length so far; above kMaxLine the line is skipped
  std::uint64_t preexisting_until_ = 0;  // size of the file when following started
  std::string partial_line_;             // the start of an incomplete line
  std::string last_read_;                // a few bytes before `read_`: other bytes in their place mean other content
  bool scheduled_ = false;
  bool removed_ = false;  // missing, and reported
  std::unique_ptr<net::Timer> removal_timer_;
  std::string last_problem_;
  Lifetime lifetime_;
};

}  // namespace relay::transcripts
