/// Follows one agent's transcript: reports its entries, and the agent's actions as events.
///
/// Invariants: lines from before `follow`, or before its `since`, are not reported, nor are lines copied into the file
///   from an older one. Open items are completed before another file is followed, and when the agent has ended.
/// Ownership: the listener outlives it; it may be destroyed from inside a call to the listener's `on_transcript_error`.
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
  /// The file cannot be read; it is not followed any more.
  virtual void on_transcript_error(const std::string& error) = 0;
  /// The file was removed. If another one takes its place, `on_transcript_restored` follows, and it is read from its
  /// start.
  virtual void on_transcript_removed() {}
  virtual void on_transcript_restored() {}
};

class TranscriptFollower final : private transcripts::TailListener {
 public:
  using MakeReader = std::unique_ptr<transcripts::Reader> (*)();

  TranscriptFollower(net::AsioLoop& loop, MakeReader make_reader, TranscriptListener& listener)
      : loop_{loop}, make_reader_{make_reader}, listener_{listener} {}

  /// Follows that file from now on, which need not exist yet; no effect if it is followed already.
  void follow(const std::string& path, std::optional<WallMs> since = std::nullopt);
  /// The conversation continues in another file: repeated entries and those from before `not_before` are not reported.
  void move(const std::string& path, WallMs not_before);
  [[nodiscard]] bool follows() const { return tail_ != nullptr; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The recorded time of the line whose entries are being reported; 0: it has none.
  [[nodiscard]] WallMs written_at() const { return reader_->written_at(); }

  /// A chunk of the model's text, which the transcript does not have yet.
  void take(const activity::TextChunk& chunk);
  /// The agent has ended: its open items will not complete.
  void end();

 private:
  void on_line(const transcripts::Line& line) override;
  void on_restart() override;
  void on_removed() override;
  void on_problem(const std::string& error) override;
  void on_line_skipped(const std::string& error) override;
  void open(const std::string& path);
  void emit(const activity::TimedEvents& all);

  net::AsioLoop& loop_;
  MakeReader make_reader_;
  TranscriptListener& listener_;
  std::string path_;
  WallMs followed_from_ = 0;          // lines from before are not reported
  bool reports_preexisting_ = false;  // lines that were in the file before `follow` are
  bool removed_ = false;
  std::unique_ptr<transcripts::Reader> reader_;
  activity::Activity activity_{"transcript"};
  std::unique_ptr<transcripts::Tail> tail_;
};

}  // namespace relay::adapters
