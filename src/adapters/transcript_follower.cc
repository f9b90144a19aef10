#include "adapters/transcript_follower.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace relay::adapters {
namespace {

constexpr Millis kClockSlack{2'000};  // a line is stamped before it is written

}  // namespace

void TranscriptFollower::follow(const std::string& path, std::optional<WallMs> since) {
  if (path == path_) return;
  reader_ = make_reader_();
  followed_from_ = since.value_or(loop_.now().wall - kClockSlack.count());
  tells_earlier_ = since.has_value();
  open(path);
}

void TranscriptFollower::move(const std::string& path, WallMs not_before) {
  if (path == path_) return;
  if (reader_)
    reader_->restart();
  else
    reader_ = make_reader_();
  followed_from_ = std::max(followed_from_, not_before);
  tells_earlier_ = true;
  open(path);
}

void TranscriptFollower::open(const std::string& path) {
  path_ = path;
  gone_ = false;
  tell(activity_.end("the agent went on in another session", loop_.now().wall));
  auto tail = transcripts::Tail::follow(loop_, path_, transcripts::Tail::From::Beginning, *this);
  if (tail)
    tail_ = *std::move(tail);
  else
    tail_.reset(), listener_.on_transcript_problem(tail.error().message());
}

void TranscriptFollower::take(const activity::TextChunk& piece) { tell(activity_.take(piece, loop_.now().wall)); }

void TranscriptFollower::end() { tell(activity_.end("the agent has ended", loop_.now().wall)); }

void TranscriptFollower::on_line(const transcripts::Line& line) {
  const auto entries = reader_->read(line.text);
  const auto written = reader_->written_at();
  if ((line.preexisting && !(tells_earlier_ && written != 0)) || (written != 0 && written < followed_from_)) return;
  for (const auto& entry : entries) {
    listener_.on_entry(entry);
    tell(activity_.take(entry, written != 0 ? written : loop_.now().wall));
  }
}

void TranscriptFollower::on_restart() {
  reader_->restart();
  if (std::exchange(gone_, false)) listener_.on_transcript_back();
}

void TranscriptFollower::on_gone() {
  gone_ = true;
  listener_.on_transcript_gone();
}

void TranscriptFollower::on_problem(const std::string& sentence) {
  tail_.reset();
  listener_.on_transcript_problem(sentence);
}

/// One line is missing, not the file: what follows is read as before.
void TranscriptFollower::on_line_skipped(const std::string& sentence) { log::info(sentence, {{"transcript", path_}}); }

void TranscriptFollower::tell(const activity::TimedEvents& all) {
  for (const auto& [event, at] : all) listener_.on_activity(event, at);
}

}  // namespace relay::adapters
