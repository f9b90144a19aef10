#include "net/request_reader.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <charconv>

#include "base/format.h"
#include "net/chunked_body.h"

namespace relay::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::string_view kEndOfHeader = "\r\n\r\n";

Failure malformed(std::string message) { return fail(RequestErrc::Malformed, std::move(message)); }

bool starts_method(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool has_folded_line(std::string_view header) { return header.contains("\r\n ") || header.contains("\r\n\t"); }

/// Some clients end a body with an extra line (RFC 9112, section 2.2).
void skip_empty_lines(std::string& bytes) {
  std::size_t at = 0;
  while (bytes.compare(at, 2, "\r\n") == 0) at += 2;
  bytes.erase(0, at);
}

bool is_decimal(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Beast's messages are about its code; these are for the author of the request.
std::string message_for(const error_code& error) {
  if (error == http::error::bad_method || error == http::error::bad_target || error == http::error::bad_version)
    return "the first line must be a method, an address and HTTP/1.1, separated by one space";
  if (error == http::error::bad_field) return "a header field has a name with invalid characters";
  if (error == http::error::bad_value) return "a header field has a value with control characters, or a malformed list";
  if (error == http::error::bad_line_ending) return "lines must end with carriage return and line feed";
  if (error == http::error::bad_content_length || error == http::error::multiple_content_length)
    return "the length of the body is not a number, or given twice";
  if (error == http::error::bad_transfer_encoding) return "the body has a length and chunks, or an unknown coding";
  return format("the request cannot be read ({})", error.message());
}

Result<std::size_t> parse_length(std::string_view decimal, std::size_t max) {
  std::size_t length = 0;
  const auto [_, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), length);
  if (error != std::errc{} || length > max)
    return fail(RequestErrc::BodyTooLarge, format("the body is larger than {} bytes", max));
  return length;
}

/// Headers that may appear only once: of two values one reader might use the first, another the second.
constexpr std::string_view kSingletonHeaders[] = {
    "Authorization",        "Content-Type",   "Expect",         "Last-Event-ID",  "Origin",
    "Sec-Fetch-Dest",       "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Sec-WebSocket-Key",
    "Sec-WebSocket-Version"};

Result<void> check_singletons(const HttpHeaders& headers) {
  for (const auto name : kSingletonHeaders)
    if (headers.count(name) > 1) return malformed(format("a request may have at most one {} header", name));
  return {};
}

Result<void> check_framing(const ServerRequest& request, HttpVersion version) {
  const auto& headers = request.headers;
  if (!request.path.starts_with('/')) return malformed("the address of a request must start with '/'");
  const auto length = headers.find("Content-Length");
  const auto coding = headers.find("Transfer-Encoding");
  if (length && coding) return malformed("a body has either a length or chunks, not both");
  if (headers.count("Content-Length") > 1 || (length && !is_decimal(*length)))
    return malformed("the length of the body must be one decimal number, given once");
  if (headers.count("Transfer-Encoding") > 1 || (coding && !equals_ignore_case(*coding, "chunked")))
    return malformed("the only supported transfer coding is 'chunked'");
  if (coding && version == HttpVersion::Http10) return malformed("chunks need HTTP/1.1; this request is HTTP/1.0");
  const auto hosts = headers.count("Host");
  if (hosts > 1 || (hosts == 0 && version == HttpVersion::Http11))
    return malformed("a request needs exactly one Host header");
  return {};
}

/// Collects what Beast parses of a header.
class HeaderParser final : public http::basic_parser<true> {
 public:
  explicit HeaderParser(std::size_t header_bytes) {
    header_limit(static_cast<std::uint32_t>(header_bytes + 1));
    body_limit(boost::none);
  }

  ReceivedRequest& received() { return received_; }

 private:
  using View = boost::beast::string_view;

  void on_request_impl(http::verb, View method, View target, int version, error_code&) override {
    const std::string_view whole{target.data(), target.size()};
    const auto query_start = std::min(whole.find('?'), whole.size());
    received_.request.method.assign(method.data(), method.size());
    received_.request.path = whole.substr(0, query_start);
    received_.request.query = whole.substr(std::min(query_start + 1, whole.size()));
    received_.version = version == 11 ? HttpVersion::Http11 : HttpVersion::Http10;
  }
  void on_field_impl(http::field, View name, View value, error_code&) override {
    received_.request.headers.add({name.data(), name.size()}, {value.data(), value.size()});
  }
  void on_response_impl(int, View, int, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(View, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, View, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}

  ReceivedRequest received_;
};

Result<ReceivedRequest> parse_header(std::string_view header) {
  if (has_folded_line(header))
    return malformed("a header line is continued on the next line, which HTTP no longer allows");
  HeaderParser parser{header.size()};
  error_code error;
  std::size_t used = 0;
  while (!error && !parser.is_header_done() && used < header.size())
    used += parser.put(boost::asio::const_buffer{header.data() + used, header.size() - used}, error);
  if (error) return malformed(message_for(error));
  if (!parser.is_header_done() || used != header.size()) return malformed("the header ends before it is complete");
  parser.received().keep_alive = parser.keep_alive() ? KeepAlive::Yes : KeepAlive::No;
  return std::move(parser.received());
}

}  // namespace

struct RequestReader::PartialRequest {
  ReceivedRequest received;
  std::size_t length = 0;  // of the whole body, unless it is chunked
  std::optional<ChunkedBody> chunks = {};
};

std::string_view describe(RequestErrc code) {
  switch (code) {
    case RequestErrc::Malformed: return "not a request";
    case RequestErrc::HeadersTooLarge: return "too large a header";
    case RequestErrc::BodyTooLarge: return "too large a body";
    case RequestErrc::UnknownExpectation: return "an unsupported expectation";
  }
  return "a bad request";
}

RequestReader::RequestReader(std::size_t max_header_bytes, std::size_t max_body_bytes)
    : max_header_bytes_{max_header_bytes}, max_body_bytes_{max_body_bytes} {}
RequestReader::~RequestReader() = default;

Result<std::optional<ReceivedRequest>> RequestReader::next() {
  if (!partial_ && !RELAY_TRY(read_header())) return std::nullopt;
  if (!RELAY_TRY(read_body())) return std::nullopt;
  auto whole = std::move(partial_->received);
  partial_.reset();
  continue_expected_ = false;
  return whole;
}

RequestReader::ParsePosition RequestReader::position() const {
  if (partial_) return ParsePosition::Body;
  return buffer_.empty() || buffer_ == "\r" ? ParsePosition::Nothing : ParsePosition::Header;  // half of an empty line
}

bool RequestReader::take_continue() { return std::exchange(continue_expected_, false); }

/// True when the header is complete.
Result<bool> RequestReader::read_header() {
  skip_empty_lines(buffer_);
  if (buffer_.empty() || buffer_ == "\r") return false;
  if (!starts_method(buffer_.front())) return malformed("this is not HTTP; a request starts with a method such as GET");
  const auto end = buffer_.find(kEndOfHeader, searched_);
  const auto bytes = end == std::string::npos ? buffer_.size() : end + kEndOfHeader.size();
  if (bytes > max_header_bytes_)
    return fail(RequestErrc::HeadersTooLarge, format("the header is larger than {} bytes", max_header_bytes_));
  if (end == std::string::npos) {
    searched_ = buffer_.size() < kEndOfHeader.size() ? 0 : buffer_.size() - kEndOfHeader.size() + 1;
    return false;
  }
  searched_ = 0;
  PartialRequest partial{.received = RELAY_TRY(parse_header(std::string_view{buffer_}.substr(0, bytes)))};
  RELAY_TRY(check_framing(partial.received.request, partial.received.version));
  RELAY_TRY(check_singletons(partial.received.request.headers));
  const auto& headers = partial.received.request.headers;
  if (headers.find("Transfer-Encoding")) partial.chunks.emplace(max_body_bytes_);
  if (const auto length = headers.find("Content-Length"))
    partial.length = RELAY_TRY(parse_length(*length, max_body_bytes_));
  if (const auto expected = headers.find("Expect")) {
    if (!equals_ignore_case(*expected, "100-continue"))
      return fail(RequestErrc::UnknownExpectation, "the only supported expectation is '100-continue'");
    continue_expected_ = partial.received.version == HttpVersion::Http11;
  }
  partial_ = std::make_unique<PartialRequest>(std::move(partial));
  buffer_.erase(0, bytes);
  return true;
}

/// True when the body is complete.
Result<bool> RequestReader::read_body() {
  auto& body = partial_->received.request.body;
  if (!buffer_.empty()) continue_expected_ = false;  // the client did not wait
  if (partial_->chunks) return partial_->chunks->read(buffer_, body);
  const auto count = std::min(partial_->length - body.size(), buffer_.size());
  body.append(buffer_, 0, count);
  buffer_.erase(0, count);
  return body.size() == partial_->length;
}

}  // namespace relay::net
