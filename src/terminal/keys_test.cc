#include "terminal/keys.h"

#include <gtest/gtest.h>

#include "terminal/input_splitter.h"

namespace relay::terminal {
namespace {

std::string character(char32_t code, bool control = false, bool alt = false, const Modes& modes = {}) {
  return encode_key({.character = code, .alt = alt, .control = control}, modes);
}

TEST(Keys, AreListedByName) {
  const auto names = key_names();
  EXPECT_TRUE(names.starts_with("Enter, Return, Escape, Esc, Tab, ")) << names;
  for (const auto* name : {"PageUp", "pageup", "Space"}) EXPECT_TRUE(parse_key(name).has_value()) << name;
}

TEST(EncodeKey, MatchesRealTerminals) {
  EXPECT_EQ(encode_key({.name = NamedKey::Enter}, {}), "\r");
  EXPECT_EQ(encode_key({.name = NamedKey::Escape}, {}), "\x1b");
  EXPECT_EQ(encode_key({.name = NamedKey::Tab, .shift = true}, {}), "\x1b[Z");
  EXPECT_EQ(encode_key({.name = NamedKey::Backspace}, {}), "\x7f");
  EXPECT_EQ(encode_key({.name = NamedKey::PageUp}, {}), "\x1b[5~");
  EXPECT_EQ(encode_key({.name = NamedKey::Up, .control = true}, {}), "\x1b[1;5A");
  EXPECT_EQ(character('c', true), "\x03");
  EXPECT_EQ(character('U', true), "\x15");
  EXPECT_EQ(character('x', false, true), "\x1bx");
  EXPECT_EQ(character(U'é'), "é");
}

TEST(ParseKey, AcceptsNamesAndModifiers) {
  const auto bytes = [](std::string_view name) {
    const auto key = parse_key(name);
    return key ? encode_key(*key, {}) : "none";
  };
  EXPECT_EQ(bytes("Enter"), "\r");
  EXPECT_EQ(bytes("ESC"), "\x1b");
  EXPECT_EQ(bytes("y"), "y");
  EXPECT_EQ(bytes("Space"), " ");
  EXPECT_EQ(bytes("-"), "-");
  EXPECT_EQ(bytes("é"), "é");
  EXPECT_EQ(bytes("C-c"), "\x03");
  EXPECT_EQ(bytes("M-x"), "\x1bx");
  EXPECT_EQ(bytes("S-Tab"), "\x1b[Z");
  for (const auto* name : {"", "Entr", "yes", "X-c", "\x1b", "\xff", "\xc3"}) EXPECT_EQ(bytes(name), "none") << name;
}

TEST(EncodeKey, ArrowsFollowTheApplicationCursorMode) {
  EXPECT_EQ(encode_key({.name = NamedKey::Up}, {}), "\x1b[A");
  EXPECT_EQ(encode_key({.name = NamedKey::Up}, {.application_cursor = true}), "\x1bOA");
}

TEST(EncodeKey, KittyProtocolDistinguishesAmbiguousKeys) {
  const Modes kitty{.keyboard_flags = 1};
  EXPECT_EQ(encode_key({.name = NamedKey::Escape}, kitty), "\x1b[27u");
  EXPECT_EQ(encode_key({.name = NamedKey::Enter}, kitty), "\r");
  EXPECT_EQ(encode_key({.name = NamedKey::Enter, .shift = true}, kitty), "\x1b[13;2u");
  EXPECT_EQ(character('C', true, false, kitty), "\x1b[99;5u");
  EXPECT_EQ(character('c', false, false, kitty), "c");
  EXPECT_EQ(encode_key({.name = NamedKey::Enter}, {.keyboard_flags = 8}), "\x1b[13u");
}

TEST(EncodePaste, UsesBracketsOnlyWhenEnabled) {
  EXPECT_EQ(encode_paste("a\nb", {.bracketed_paste = true}), "\x1b[200~a\nb\x1b[201~");
  EXPECT_EQ(encode_paste("a\r\nb\rc\n", {}), "a\rb\rc\r");
}

TEST(EncodePaste, RemovesControlCharacters) {
  const std::string hostile{
      "x\x1b[201~\x03\x7f\0y\tz\xc2\x9b"
      "1~é",
      20};
  EXPECT_EQ(encode_paste(hostile, {.bracketed_paste = true}), "\x1b[200~x[201~y\tz1~é\x1b[201~");
}

}  // namespace
}  // namespace relay::terminal
