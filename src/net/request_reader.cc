#include "net/request_reader.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>

#include "base/format.h"

namespace relay::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::string_view kEndOfHeader = "\r\n\r\n";
constexpr std::size_t kMaxChunkLineBytes = 4 * 1024;  // size and extensions of a chunk, or all trailers

Failure malformed(std::string why) { return fail(RequestErrc::Malformed, std::move(why)); }

bool is_first_of_a_method(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool has_folded_line(std::string_view header) { return header.contains("\r\n ") || header.contains("\r\n\t"); }

/// Some clients end a body with one more line (RFC 9112, section 2.2).
void skip_empty_lines(std::string& bytes) {
  std::size_t at = 0;
  while (bytes.compare(at, 2, "\r\n") == 0) at += 2;
  bytes.erase(0, at);
}

bool is_decimal(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Beast's own words are about its code; these are for whoever wrote the request.
std::string sentence_for(const error_code& error) {
  if (error == http::error::bad_method || error == http::error::bad_target || error == http::error::bad_version)
    return "the first line must be a method, an address and HTTP/1.1, with one blank between them";
  if (error == http::error::bad_field) return "a header field has a name with characters that none may have";
  if (error == http::error::bad_value)
    return "a header field has a value with control characters, or a list that is none";
  if (error == http::error::bad_line_ending) return "lines must end with carriage return and line feed";
  if (error == http::error::bad_content_length || error == http::error::multiple_content_length)
    return "the length of the body is no number, or said twice";
  if (error == http::error::bad_transfer_encoding) return "the body has a length and chunks, or an unknown coding";
  if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension)
    return "a chunk of the body does not begin with its size on a line of its own";
  return format("the request cannot be read ({})", error.message());
}

Result<void> check_framing(const ServerRequest& request, HttpVersion version) {
  const auto& headers = request.headers;
  if (!request.path.starts_with('/')) return malformed("the address of a request begins with '/'");
  const auto length = headers.find("Content-Length");
  const auto coding = headers.find("Transfer-Encoding");
  if (length && coding) return malformed("a body has a length or is sent in chunks, not both");
  if (headers.count("Content-Length") > 1 || (length && !is_decimal(*length)))
    return malformed("the length of the body must be one decimal number, said once");
  if (headers.count("Transfer-Encoding") > 1 || (coding && !same_in_any_case(*coding, "chunked")))
    return malformed("the only transfer coding understood here is 'chunked'");
  if (coding && version == HttpVersion::Http10)
    return malformed("chunks came with HTTP/1.1; this request says HTTP/1.0");
  const auto hosts = headers.count("Host");
  if (hosts > 1 || (hosts == 0 && version == HttpVersion::Http11))
    return malformed("a request has exactly one Host header");
  return {};
}

}  // namespace

/// What Beast reads of one request.
class RequestReader::Parser final : public http::basic_parser<true> {
 public:
  Parser(std::size_t max_header_bytes, std::size_t max_body_bytes) {
    eager(true);
    header_limit(static_cast<std::uint32_t>(max_header_bytes));
    body_limit(max_body_bytes);
  }

  ReceivedRequest& received() { return received_; }

 private:
  using View = boost::beast::string_view;

  void on_request_impl(http::verb, View method, View target, int version, error_code&) override {
    const std::string_view whole{target.data(), target.size()};
    const auto question = std::min(whole.find('?'), whole.size());
    received_.request.method.assign(method.data(), method.size());
    received_.request.path = whole.substr(0, question);
    received_.request.query = whole.substr(std::min(question + 1, whole.size()));
    received_.version = version == 11 ? HttpVersion::Http11 : HttpVersion::Http10;
  }
  void on_response_impl(int, View, int, error_code&) override {}
  void on_field_impl(http::field, View name, View value, error_code&) override {
    if (header_done_) return;  // a trailer comes too late to be believed
    received_.request.headers.add({name.data(), name.size()}, {value.data(), value.size()});
  }
  void on_header_impl(error_code&) override { header_done_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(View bytes, error_code&) override {
    received_.request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, View, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, error_code&) override {
    received_.request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}

  ReceivedRequest received_;
  bool header_done_ = false;
};

std::string_view describe(RequestErrc code) {
  switch (code) {
    case RequestErrc::Malformed: return "not a request";
    case RequestErrc::HeadersTooLarge: return "too large a header";
    case RequestErrc::BodyTooLarge: return "too large a body";
    case RequestErrc::UnknownExpectation: return "an expectation nobody here can meet";
  }
  return "a bad request";
}

RequestReader::RequestReader(std::size_t max_header_bytes, std::size_t max_body_bytes)
    : max_header_bytes_{max_header_bytes}, max_body_bytes_{max_body_bytes} {}
RequestReader::~RequestReader() = default;

Result<std::optional<ReceivedRequest>> RequestReader::next() {
  if (!parser_ && !RELAY_TRY(read_header())) return std::nullopt;
  if (!RELAY_TRY(read_body())) return std::nullopt;
  auto received = std::move(parser_->received());
  received.keep_alive = parser_->keep_alive() ? KeepAlive::Yes : KeepAlive::No;
  parser_.reset();
  continue_wanted_ = false;
  return received;
}

RequestReader::Within RequestReader::within() const {
  if (parser_) return Within::Body;
  return ahead_.empty() ? Within::Nothing : Within::Header;
}

bool RequestReader::takes_continue() { return std::exchange(continue_wanted_, false); }

/// True when the header is read; the parser then waits for the body.
Result<bool> RequestReader::read_header() {
  skip_empty_lines(ahead_);
  if (ahead_.empty() || ahead_ == "\r") return false;
  if (!is_first_of_a_method(ahead_.front()))
    return malformed("this is not HTTP; a request begins with a method such as GET");
  const auto end = ahead_.find(kEndOfHeader, searched_);
  const auto bytes = end == std::string::npos ? ahead_.size() : end + kEndOfHeader.size();
  if (bytes > max_header_bytes_)
    return fail(RequestErrc::HeadersTooLarge, format("the header is larger than {} bytes", max_header_bytes_));
  if (end == std::string::npos) {
    searched_ = ahead_.size() < kEndOfHeader.size() ? 0 : ahead_.size() - kEndOfHeader.size() + 1;
    return false;
  }
  searched_ = 0;
  const auto header = std::string_view{ahead_}.substr(0, bytes);
  if (has_folded_line(header))
    return malformed("a header line is continued on the next one, which HTTP no longer allows");

  auto parser = std::make_unique<Parser>(max_header_bytes_ + 1, max_body_bytes_);
  parser->eager(false);  // the header alone: what it says is checked before a byte of the body is believed
  error_code error;
  std::size_t used = 0;
  while (!error && !parser->is_header_done() && used < bytes)
    used += parser->put(boost::asio::const_buffer{header.data() + used, bytes - used}, error);
  if (error == http::error::body_limit)
    return fail(RequestErrc::BodyTooLarge, format("the body is larger than {} bytes", max_body_bytes_));
  if (error) return malformed(sentence_for(error));
  if (!parser->is_header_done() || used != bytes) return malformed("the header ends before it is complete");
  const auto& received = parser->received();
  RELAY_TRY(check_framing(received.request, received.version));
  if (const auto expected = received.request.headers.find("Expect")) {
    if (!same_in_any_case(*expected, "100-continue"))
      return fail(RequestErrc::UnknownExpectation, "the only expectation met here is '100-continue'");
    continue_wanted_ = received.version == HttpVersion::Http11 && !parser->is_done();
  }
  parser->eager(true);
  parser_ = std::move(parser);
  ahead_.erase(0, bytes);
  return true;
}

/// True when the body is whole.
Result<bool> RequestReader::read_body() {
  std::size_t used = 0;
  error_code error;
  while (used < ahead_.size() && !parser_->is_done()) {
    const auto count = parser_->put(boost::asio::const_buffer{ahead_.data() + used, ahead_.size() - used}, error);
    used += count;
    if (error || count == 0) break;
  }
  if (used > 0) continue_wanted_ = false;  // it did not wait
  ahead_.erase(0, used);
  if (error == http::error::body_limit)
    return fail(RequestErrc::BodyTooLarge, format("the body is larger than {} bytes", max_body_bytes_));
  if (error && error != http::error::need_more) return malformed(sentence_for(error));
  if (!parser_->is_done() && ahead_.size() > kMaxChunkLineBytes)
    return malformed("a chunk of the body begins with a line that has no end");
  return parser_->is_done();
}

}  // namespace relay::net
