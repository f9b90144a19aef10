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
  return format("the request cannot be read ({})", error.message());
}

Result<std::size_t> length_within(std::string_view decimal, std::size_t most) {
  std::size_t length = 0;
  const auto [_, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), length);
  if (error != std::errc{} || length > most)
    return fail(RequestErrc::BodyTooLarge, format("the body is larger than {} bytes", most));
  return length;
}

/// Two of them would be two answers to one question: the first reader might take one, the next the other.
constexpr std::string_view kSaidOnce[] = {
    "Authorization",        "Content-Type",   "Expect",         "Last-Event-ID",  "Origin",
    "Sec-Fetch-Dest",       "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Sec-WebSocket-Key",
    "Sec-WebSocket-Version"};

Result<void> check_said_once(const HttpHeaders& headers) {
  for (const auto name : kSaidOnce)
    if (headers.count(name) > 1) return malformed(format("a request has at most one {} header", name));
  return {};
}

Result<void> check_framing(const ServerRequest& request, HttpVersion version) {
  const auto& headers = request.headers;
  if (!request.path.starts_with('/')) return malformed("the address of a request begins with '/'");
  const auto length = headers.find("Content-Length");
  const auto coding = headers.find("Transfer-Encoding");
  if (length && coding) return malformed("a body has a length or is sent in chunks, not both");
  if (headers.count("Content-Length") > 1 || (length && !is_decimal(*length)))
    return malformed("the length of the body must be one decimal number, said once");
  if (headers.count("Transfer-Encoding") > 1 || (coding && !equals_ignore_case(*coding, "chunked")))
    return malformed("the only transfer coding understood here is 'chunked'");
  if (coding && version == HttpVersion::Http10)
    return malformed("chunks came with HTTP/1.1; this request says HTTP/1.0");
  const auto hosts = headers.count("Host");
  if (hosts > 1 || (hosts == 0 && version == HttpVersion::Http11))
    return malformed("a request has exactly one Host header");
  return {};
}

/// What Beast reads of a header.
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
    const auto question = std::min(whole.find('?'), whole.size());
    received_.request.method.assign(method.data(), method.size());
    received_.request.path = whole.substr(0, question);
    received_.request.query = whole.substr(std::min(question + 1, whole.size()));
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
    return malformed("a header line is continued on the next one, which HTTP no longer allows");
  HeaderParser parser{header.size()};
  error_code error;
  std::size_t used = 0;
  while (!error && !parser.is_header_done() && used < header.size())
    used += parser.put(boost::asio::const_buffer{header.data() + used, header.size() - used}, error);
  if (error) return malformed(sentence_for(error));
  if (!parser.is_header_done() || used != header.size()) return malformed("the header ends before it is complete");
  parser.received().keep_alive = parser.keep_alive() ? KeepAlive::Yes : KeepAlive::No;
  return std::move(parser.received());
}

}  // namespace

struct RequestReader::PartialRequest {
  ReceivedRequest received;
  std::size_t length = 0;  // of the whole body, unless it comes in chunks
  std::optional<ChunkedBody> chunks = {};
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
  if (!growing_ && !RELAY_TRY(read_header())) return std::nullopt;
  if (!RELAY_TRY(read_body())) return std::nullopt;
  auto whole = std::move(growing_->received);
  growing_.reset();
  continue_wanted_ = false;
  return whole;
}

RequestReader::ParsePosition RequestReader::within() const {
  if (growing_) return ParsePosition::Body;
  return ahead_.empty() || ahead_ == "\r" ? ParsePosition::Nothing
                                          : ParsePosition::Header;  // that is half of an empty line
}

bool RequestReader::takes_continue() { return std::exchange(continue_wanted_, false); }

/// True when the header is read.
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
  PartialRequest growing{.received = RELAY_TRY(parse_header(std::string_view{ahead_}.substr(0, bytes)))};
  RELAY_TRY(check_framing(growing.received.request, growing.received.version));
  RELAY_TRY(check_said_once(growing.received.request.headers));
  const auto& headers = growing.received.request.headers;
  if (headers.find("Transfer-Encoding")) growing.chunks.emplace(max_body_bytes_);
  if (const auto length = headers.find("Content-Length"))
    growing.length = RELAY_TRY(length_within(*length, max_body_bytes_));
  if (const auto expected = headers.find("Expect")) {
    if (!equals_ignore_case(*expected, "100-continue"))
      return fail(RequestErrc::UnknownExpectation, "the only expectation met here is '100-continue'");
    continue_wanted_ = growing.received.version == HttpVersion::Http11;
  }
  growing_ = std::make_unique<PartialRequest>(std::move(growing));
  ahead_.erase(0, bytes);
  return true;
}

/// True when the body is whole.
Result<bool> RequestReader::read_body() {
  auto& body = growing_->received.request.body;
  if (!ahead_.empty()) continue_wanted_ = false;  // it did not wait
  if (growing_->chunks) return growing_->chunks->read(ahead_, body);
  const auto count = std::min(growing_->length - body.size(), ahead_.size());
  body.append(ahead_, 0, count);
  ahead_.erase(0, count);
  return body.size() == growing_->length;
}

}  // namespace relay::net
