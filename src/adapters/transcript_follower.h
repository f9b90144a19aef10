/// One agent's transcript, followed: its entries, and what the agent does as events.
///
/// Invariants: what was written before following began, or before `since` where the caller gives a time, is not told, nor what was
///   copied into the file from an older one. When another file is followed, or the agent has ended, items that are open are
///   completed first.
/// Ownership: the listener outlives it; it may be destroyed from inside a call to the listener's `on_transcript_problem`.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "activity/activity.h"
#include "net/asio_loop.h"
#include "transcripts/reader.h"
#include "transcripts/tail.h"

namespace relay::adapters {

class TranscriptListener {
 public:
  virtual ~TranscriptListener() = default;
  virtual void on_entry(const transcripts::Entry& entry) = 0;
  virtual void on_activity(const events::Event& event, WallMs at) = 0;
  /// The file cannot be read, in one sentence; it is not followed any more.
  virtual void on_transcript_problem(const std::string& sentence) = 0;
  /// The file was removed; if one comes back in its place, that is told, and it is followed from its beginning.
  virtual void on_transcript_gone() {}
  virtual void on_transcript_back() {}
};

class TranscriptFollower final : private transcripts::TailListener {
 public:
  using MakeReader = std::unique_ptr<transcripts::Reader> (*)();

  TranscriptFollower(net::AsioLoop& loop, MakeReader make_reader, TranscriptListener& listener)
      : loop_{loop}, make_reader_{make_reader}, listener_{listener} {}

  /// From now on that file; nothing happens when it is followed already. It may come later.
  void follow(const std::string& path, std::optional<WallMs> since = std::nullopt);
  /// The same conversation goes on in another file: what was read before is known again there, and what was written before
  /// `not_before` is not told.
  void move(const std::string& path, WallMs not_before);
  [[nodiscard]] bool follows() const { return tail_ != nullptr; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// When the line whose entries are being told says it was written; 0 when it does not.
  [[nodiscard]] WallMs written_at() const { return reader_->written_at(); }

  /// A piece of what the model writes, which the transcript does not have yet.
  void take(const activity::TextChunk& piece);
  /// The agent has ended: what it had begun will not be completed.
  void end();

 private:
  void on_line(const transcripts::Line& line) override;
  void on_restart() override;
  void on_gone() override;
  void on_problem(const std::string& sentence) override;
  void on_line_skipped(const std::string& sentence) override;
  void open(const std::string& path);
  void tell(const activity::TimedEvents& all);

  net::AsioLoop& loop_;
  MakeReader make_reader_;
  TranscriptListener& listener_;
  std::string path_;
  WallMs followed_from_ = 0;    // what was written before is another time's, wherever it stands
  bool tells_earlier_ = false;  // also what was in the file when following began
  bool gone_ = false;           // the file was removed
  std::unique_ptr<transcripts::Reader> reader_;
  activity::Activity activity_{"transcript"};
  std::unique_ptr<transcripts::Tail> tail_;
};

}  // namespace relay::adapters
