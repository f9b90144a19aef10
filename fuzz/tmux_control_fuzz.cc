/// Any control mode output of tmux: the same calls for every split, and pane output is never taken for a notification.
/// Agents choose every byte of pane output.
#include <cstddef>
#include <cstdint>
#include <string>

#include "check.h"
#include "tmux/commands.h"
#include "tmux/control_parser.h"
#include "tmux/end_mark.h"
#include "tmux/shim.h"

namespace {

using namespace relay::tmux;

struct Record final : ControlHandler {
  void on_pane_output(const PaneOutput& output) override {
    add('o', output.bytes);
    add('#', std::to_string(output.pane) + "," + std::to_string(output.age.count()));
  }
  void on_reply(const CommandResult& result) override { add(result.ok ? 'a' : 'e', result.text); }
  void on_notice(std::string_view name, std::string_view rest) override {
    add('n', name);
    add('r', rest);
  }
  void on_skipped_line() override { add('s', {}); }
  void add(char kind, std::string_view text) { all.append(1, kind).append(text).append(1, '\n'); }
  std::string all;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(bytes), size};
  Record whole, cut, pieces;
  ControlParser one, two, three;
  one.feed(text, whole);
  const auto at = size == 0 ? 0 : bytes[0] % size;
  two.feed(text.substr(0, at), cut);
  two.feed(text.substr(at), cut);
  for (const char byte : text) three.feed({&byte, 1}, pieces);
  FUZZ_CHECK(whole.all == cut.all && whole.all == pieces.all);

  // Bytes escaped like tmux output are read back unchanged.
  std::string line{"%output %7 "};
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\\') {
      const auto value = static_cast<unsigned char>(c);
      for (const int shift : {6, 3, 0})
        line.append(shift == 6 ? "\\" : "").push_back(static_cast<char>('0' + ((value >> shift) & 7)));
    } else {
      line.push_back(c);
    }
  }
  Record back;
  ControlParser reader;
  if (line.size() < kMaxLineBytes) reader.feed(line + "\n", back);
  if (size > 0 && line.size() < kMaxLineBytes) FUZZ_CHECK(back.all == "o" + std::string{text} + "\n#7,0\n");

  // The last output of a program arrives whole, and the mark after it is found, for every split.
  EndMark mark{"secret"};
  auto last = mark.before(text.substr(0, at));
  last += mark.before(text.substr(at));
  last += mark.before(mark.text().substr(0, 4));
  last += mark.before(mark.text().substr(4));
  FUZZ_CHECK(mark.found() && (last == text || text.contains(mark.text())));

  static_cast<void>(size_in_layout(text, 0));
  static_cast<void>(parse_size(text));
  static_cast<void>(needs_raw_paste_flag(text));
  static_cast<void>(parse_version(text));
  static_cast<void>(redraw_bytes(text.substr(0, at), text.substr(at)));
  if (const auto command = decode_command(text)) FUZZ_CHECK(decode_command(encode_command(*command)).has_value());
  for (const auto& command : paste_commands(text, {.pane = 1, .buffer = "b", .needs_raw_paste_flag = false}))
    FUZZ_CHECK(!command.contains('\n') && !command.contains('\0'));
  return 0;
}
