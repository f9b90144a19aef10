#include "host/control/host_protocol.h"

#include <gtest/gtest.h>

#include "terminal/keys.h"

namespace relay::host {
namespace {

template <typename Params>
Params params(std::string_view text) {
  const auto request = parse_request(text);
  EXPECT_TRUE(request) << text;
  return request ? std::get<Params>(request->params) : Params{};
}
std::string error_of(std::string_view text) {
  const auto request = parse_request(text);
  return request ? "" : request.error().message();
}

TEST(HostProtocol, RequestIsParsed) {
  const auto attach = params<Attach>(R"({"method":"attach","id":"7","mode":"drive","columns":80,"rows":24})");
  EXPECT_TRUE(attach.drive);
  EXPECT_EQ(attach.size.columns, 80);
  EXPECT_TRUE(params<ShowScreen>(R"({"method":"screen","format":"ansi"})").ansi);
  EXPECT_EQ(params<Input>(R"({"method":"input","keys":["Escape","y"]})").keys.size(), 2u);
  EXPECT_EQ(params<Input>(R"({"method":"input","data":"\u0003"})").data, "\x03");
  EXPECT_EQ(params<ReleaseAgent>(R"({"method":"release","reason":"done"})").reason, "done");
  EXPECT_EQ(params<ReleaseAgent>(R"({"method":"release"})").by, "human");
  EXPECT_EQ(params<ReleaseAgent>(R"({"method":"release","by":"Alice"})").by, "Alice");
  EXPECT_EQ(parse_request(R"({"method":"describe","id":"7"})")->id, "7");
}

TEST(HostProtocol, UnknownRequestIsExplained) {
  EXPECT_EQ(error_of(R"({"method":"dance"})"), "unknown method dance");
  EXPECT_EQ(error_of("{}"), "`method` is missing");
  EXPECT_EQ(error_of(R"({"method":"attach","mode":"own","columns":1,"rows":1})"), "mode must be view or drive");
  EXPECT_EQ(error_of(R"({"method":"attach","mode":"view","columns":0,"rows":-4})"),
            "columns and rows must be numbers from 1 to 10000");
  EXPECT_EQ(error_of(R"({"method":"input","text":"a","data":"b"})"), "input needs one of data, keys and text");
  EXPECT_EQ(error_of(R"({"method":"input","keys":["Entr"]})"),
            "there is no key \"Entr\"; keys are " + terminal::key_names());
  EXPECT_FALSE(error_of("not json").empty());
}

TEST(HostProtocol, TerminalFrameStartsWithByteOne) {
  EXPECT_EQ(terminal_bytes("\x01\x1b[A"), "\x1b[A");
  EXPECT_EQ(terminal_bytes("\x01"), "");
  EXPECT_FALSE(terminal_bytes("{}"));
  EXPECT_FALSE(terminal_bytes(""));
}

}  // namespace
}  // namespace relay::host
