#include "net/request_reader.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::net {
namespace {

constexpr std::size_t kHeader = 1'024, kBody = 100;

/// Reads bytes that arrive in two parts: the requests as text, then an error or the position.
std::string requests_in(std::string_view first, std::string_view second = {}) {
  RequestReader reader{kHeader, kBody};
  std::string found;
  for (const auto part : {first, second}) {
    reader.add(part);
    while (true) {
      auto next = reader.next();
      if (!next) return found + "! " + next.error().message();
      if (!*next) break;
      const auto& request = (*next)->request;
      found += format("{} {} ? {} [{}]{}\n", request.method, request.path, request.query, request.body,
                      (*next)->keep_alive == KeepAlive::Yes ? "" : " close");
    }
  }
  switch (reader.position()) {
    case RequestReader::ParsePosition::Nothing: return found;
    case RequestReader::ParsePosition::Header: return found + "header";
    case RequestReader::ParsePosition::Body: return found + "body";
  }
  return found;
}

void expect_refused(const std::string& wire, RequestErrc code, std::string_view message) {
  for (std::size_t cut = 0; cut <= wire.size(); ++cut) {
    RequestReader reader{kHeader, kBody};
    reader.add(std::string_view{wire}.substr(0, cut));
    auto next = reader.next();
    if (next) {
      ASSERT_FALSE(next->has_value()) << wire;
      reader.add(std::string_view{wire}.substr(cut));
      next = reader.next();
    }
    ASSERT_FALSE(next.has_value()) << wire << ", cut at " << cut;
    EXPECT_TRUE(is(next.error(), code)) << wire << ": " << next.error().message();
    EXPECT_TRUE(next.error().message().contains(message)) << wire << ": " << next.error().message();
  }
}

const std::string kHost = "Host: localhost\r\n";

TEST(RequestReader, ReadsARequestWithItsHeaders) {
  RequestReader reader{kHeader, kBody};
  reader.add(
      "POST /a%20b/c?x=1&y=%3F? HTTP/1.1\r\nHost: localhost\r\nX-Thing:  one two \r\nContent-Length: 5\r\n\r\nhello");
  const auto next = reader.next();
  ASSERT_TRUE(next.has_value()) << next.error().message();
  ASSERT_TRUE(next->has_value());
  const auto& [request, version, keep_alive] = **next;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a%20b/c");
  EXPECT_EQ(request.query, "x=1&y=%3F?");
  EXPECT_EQ(request.headers.find("x-thing"), "one two");
  EXPECT_EQ(request.body, "hello");
  EXPECT_EQ(version, HttpVersion::Http11);
  EXPECT_EQ(keep_alive, KeepAlive::Yes);
}

TEST(RequestReader, ReadsTheSameRequestsForAnySplit) {
  const auto wire = "GET /one HTTP/1.1\r\n" + kHost + "\r\n" +                                   //
                    "\r\nPOST /two?q HTTP/1.1\r\n" + kHost + "Content-Length: 3\r\n\r\nabc" +    //
                    "PUT /three HTTP/1.1\r\n" + kHost + "Transfer-Encoding: Chunked\r\n\r\n" +   //
                    "3;x=\"y\"\r\nabc\r\n0A\r\n0123456789\r\n0\r\nContent-Type: late\r\n\r\n" +  //
                    "GET /four HTTP/1.0\r\n\r\n";
  const auto expected = "GET /one ?  []\nPOST /two ? q [abc]\nPUT /three ?  [abc0123456789]\nGET /four ?  [] close\n";
  for (std::size_t cut = 0; cut <= wire.size(); ++cut)
    ASSERT_EQ(requests_in(std::string_view{wire}.substr(0, cut), std::string_view{wire}.substr(cut)), expected)
        << "cut at byte " << cut;
}

TEST(RequestReader, EndsAChunkLineInsideQuotes) {
  const auto wire = "POST / HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n3;x=\"\r\nabc\r\n0\r\n\r\n";
  for (std::size_t cut = 0; cut <= wire.size(); ++cut)
    ASSERT_EQ(requests_in(std::string_view{wire}.substr(0, cut), std::string_view{wire}.substr(cut)),
              "POST / ?  [abc]\n")
        << "cut at byte " << cut;
}

TEST(RequestReader, HalfAnEmptyLineStartsNoRequest) {
  EXPECT_EQ(requests_in("\r"), "");
  EXPECT_EQ(requests_in("\r", "\n\r"), "");
}

TEST(RequestReader, ReportsItsPosition) {
  EXPECT_EQ(requests_in("GET / HTTP/1.1\r\nHost"), "header");
  EXPECT_EQ(requests_in("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 5\r\n\r\nhell"), "body");
  EXPECT_EQ(requests_in("\r\n\r\n"), "");
}

TEST(RequestReader, KeepsAliveAsRequested) {
  EXPECT_EQ(requests_in("GET / HTTP/1.1\r\n" + kHost + "Connection: Close\r\n\r\n"), "GET / ?  [] close\n");
  EXPECT_EQ(requests_in("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), "GET / ?  []\n");
}

TEST(RequestReader, RefusesAmbiguousRequests) {
  const auto head = "POST / HTTP/1.1\r\n" + kHost;
  const auto bad = RequestErrc::Malformed;
  expect_refused(head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", bad, "");
  expect_refused(head + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", bad, "");
  expect_refused(head + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n", bad, "given once");
  expect_refused(head + "Content-Length: 3, 3\r\n\r\n", bad, "given once");
  expect_refused(head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", bad, "given twice");
  for (const auto* length : {"-1", "+1", "0x1", "1 1", "", "1e1", "99999999999999999999999"})
    expect_refused(head + "Content-Length: " + length + "\r\n\r\n", bad, "length of the body");
  expect_refused(head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", bad, "");
  for (const auto* coding : {"gzip, chunked", "chunked, identity", "xchunked", "identity", "chunked\v"})
    expect_refused(head + "Transfer-Encoding: " + coding + "\r\n\r\n", bad, "");
  expect_refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", bad, "HTTP/1.0");
  expect_refused(head + "X: a\r\n b\r\n\r\n", bad, "continued");
  expect_refused(head + "X:\r\n\tb\r\n\r\n", bad, "continued");
  expect_refused(head + "Content-Length : 3\r\n\r\n", bad, "name");
  expect_refused(head + "Host: other\r\n\r\n", bad, "exactly one Host");
  expect_refused("GET / HTTP/1.1\r\n\r\n", bad, "exactly one Host");
  for (const std::string name : {"Origin", "Sec-Fetch-Site", "Authorization", "Content-Type", "Sec-WebSocket-Key"})
    expect_refused(head + name + ": a\r\n" + name + ": b\r\n\r\n", bad, "may have at most one " + name);
  expect_refused(head + "origin: a\r\nORIGIN: a\r\n\r\n", bad, "may have at most one Origin");
}

TEST(RequestReader, RefusesMalformedRequests) {
  const auto bad = RequestErrc::Malformed;
  expect_refused("\x16\x03\x01\x02", bad, "not HTTP");
  expect_refused(" GET / HTTP/1.1\r\n\r\n", bad, "not HTTP");
  expect_refused("GET  / HTTP/1.1\r\n\r\n", bad, "first line");
  expect_refused("GET / HTTP/1.1 \r\n\r\n", bad, "first line");
  expect_refused("GET / HTTP/2.0\r\n\r\n", bad, "first line");
  expect_refused("GET /\r\n\r\n", bad, "first line");
  expect_refused("GET http://elsewhere/ HTTP/1.1\r\n" + kHost + "\r\n", bad, "must start with '/'");
  expect_refused("OPTIONS * HTTP/1.1\r\n" + kHost + "\r\n", bad, "must start with '/'");
  expect_refused("GET / HTTP/1.1\r\nHo st: a\r\n\r\n", bad, "name");
  expect_refused("GET / HTTP/1.1\r\n: a\r\n\r\n", bad, "name");
  expect_refused(std::string{"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 30}, bad, "control");
  expect_refused("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", bad, "");
  const auto chunked = "POST / HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n";
  expect_refused(chunked + "xyz\r\n", bad, "chunk");
  expect_refused(chunked + "3\r\nabcd\r\n0\r\n\r\n", bad, "chunk");
  expect_refused(chunked + "3\nabc\r\n", bad, "chunk");
  expect_refused(chunked + "-3\r\nabc\r\n", bad, "chunk");
  expect_refused(chunked + "3 \r\nabc\r\n", bad, "chunk");
  expect_refused(chunked + "0\r\nno trailer\r\n", bad, "last chunk");
}

TEST(RequestReader, RefusesOversizedRequests) {
  expect_refused("GET / HTTP/1.1\r\nX: " + std::string(kHeader, 'x'), RequestErrc::HeadersTooLarge, "1024 bytes");
  const auto head = "POST / HTTP/1.1\r\n" + kHost;
  EXPECT_EQ(requests_in(head + "Content-Length: 100\r\n\r\n"), "body");
  expect_refused(head + "Content-Length: 101\r\n\r\n", RequestErrc::BodyTooLarge, "100 bytes");
  expect_refused(head + "Transfer-Encoding: chunked\r\n\r\n65\r\n", RequestErrc::BodyTooLarge, "100 bytes");
  expect_refused(head + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n64\r\n", RequestErrc::BodyTooLarge, "100 bytes");
  expect_refused(head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", RequestErrc::BodyTooLarge, "");
  expect_refused(head + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(1'100, 'x'), RequestErrc::Malformed,
                 "no end");
}

TEST(RequestReader, ReportsAnExpectedContinueOnce) {
  RequestReader reader{kHeader, kBody};
  reader.add("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 2\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_FALSE(reader.next()->has_value());
  EXPECT_TRUE(reader.take_continue());
  EXPECT_FALSE(reader.take_continue());
  reader.add("ab");
  EXPECT_TRUE(reader.next()->has_value());
  expect_refused("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 2\r\nExpect: magic\r\n\r\n",
                 RequestErrc::UnknownExpectation, "100-continue");
}

}  // namespace
}  // namespace relay::net
