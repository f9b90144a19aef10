#include "api/events/sse_reader.h"

namespace relay::api {

bool SseReader::open(net::ResponseWriter reply, std::vector<net::HttpHeader> headers) {
  headers.push_back({"Cache-Control", "no-cache"});
  headers.push_back({"X-Accel-Buffering", "no"});
  auto stream = reply.stream(
      {.content_type = "text/event-stream", .body = std::string{kSseOpening}, .headers = std::move(headers)}, *this);
  if (!stream) return false;
  stream_ = *std::move(stream);
  return true;
}

void SseReader::end(std::uint64_t after, const std::string& reason) {
  stream_.write(net::make_shared_buffer(resume_text(StreamFormat::Sse, after, reason)));
  stream_.finish();
  feed_.remove(*this);
}

void SseReader::on_drained() {
  if (position_) position_->on_drained();
}

void SseReader::on_closed(const std::string&) { feed_.remove(*this); }

}  // namespace relay::api
