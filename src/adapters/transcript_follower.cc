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
  reports_preexisting_ = since.has_value();
  open(path);
}

void TranscriptFollower::move(const std::string& path, WallMs not_before) {
  if (path == path_) return;
  if (reader_)
    reader_->restart();
  else
    reader_ = make_reader_();
  followed_from_ = std::max(followed_from_, not_before);
  reports_preexisting_ = true;
  open(path);
}

void TranscriptFollower::open(const std::string& path) {
  path_ = path;
  removed_ = false;
  emit(activity_.end("the agent continued in another session", loop_.now().wall));
  auto tail = transcripts::Tail::follow(loop_, path_, transcripts::Tail::From::Start, *this);
  if (tail)
    tail_ = *std::move(tail);
  else
    tail_.reset(), listener_.on_transcript_error(tail.error().message());
}

void TranscriptFollower::take(const activity::TextChunk& chunk) { emit(activity_.take(chunk, loop_.now().wall)); }

void TranscriptFollower::end() { emit(activity_.end("the agent has ended", loop_.now().wall)); }

void TranscriptFollower::on_line(const transcripts::Line& line) {
  const auto entries = reader_->read(line.text);
  const auto written = reader_->written_at();
  if ((line.preexisting && !(reports_preexisting_ && written != 0)) || (written != 0 && written < followed_from_))
    return;
  for (const auto& entry : entries) {
    listener_.on_entry(entry);
    emit(activity_.take(entry, written != 0 ? written : loop_.now().wall));
  }
}

void TranscriptFollower::on_restart() {
  reader_->restart();
  if (std::exchange(removed_, false)) listener_.on_transcript_restored();
}

void TranscriptFollower::on_removed() {
  removed_ = true;
  listener_.on_transcript_removed();
}

void TranscriptFollower::on_problem(const std::string& error) {
  tail_.reset();
  listener_.on_transcript_error(error);
}

/// Only one line is missing; later ones are read.
void TranscriptFollower::on_line_skipped(const std::string& error) { log::info(error, {{"transcript", path_}}); }

void TranscriptFollower::emit(const activity::TimedEvents& all) {
  for (const auto& [event, at] : all) listener_.on_activity(event, at);
}

}  // namespace relay::adapters
