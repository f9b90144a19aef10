#include "cli/chat/editor_key.h"

#include <algorithm>
#include <iterator>

namespace relay::cli {
namespace {

struct KeyRow {
  std::string_view bytes;
  EditorKey key;
};

using enum EditorKey;

constexpr KeyRow kKeys[] = {
    {"\r", Enter},
    {"\n", Enter},
    {"\x1b\r", NewLine},
    {"\x1b\n", NewLine},
    {"\x02", Left},
    {"\x1b[D", Left},
    {"\x1bOD", Left},
    {"\x06", Right},
    {"\x1b[C", Right},
    {"\x1bOC", Right},
    {"\x1b\x62", WordLeft},
    {"\x1b[1;5D", WordLeft},
    {"\x1b[1;3D", WordLeft},
    {"\x1bOd", WordLeft},
    {"\x1b[5D", WordLeft},
    {"\x1b\x66", WordRight},
    {"\x1b[1;5C", WordRight},
    {"\x1b[1;3C", WordRight},
    {"\x1bOc", WordRight},
    {"\x1b[5C", WordRight},
    {"\x01", Home},
    {"\x1b[H", Home},
    {"\x1bOH", Home},
    {"\x1b[1~", Home},
    {"\x1b[7~", Home},
    {"\x05", End},
    {"\x1b[F", End},
    {"\x1bOF", End},
    {"\x1b[4~", End},
    {"\x1b[8~", End},
    {"\x10", Older},
    {"\x1b[A", Older},
    {"\x1bOA", Older},
    {"\x0e", Newer},
    {"\x1b[B", Newer},
    {"\x1bOB", Newer},
    {"\x7f", Backspace},
    {"\x08", Backspace},
    {"\x1b[3~", Delete},
    {"\x0b", KillToEnd},
    {"\x15", KillToStart},
    {"\x17", KillWordBack},
    {"\x1b\x7f", KillWordBack},
    {"\x1b\x08", KillWordBack},
    {"\x1b\x64", KillWordForward},
    {"\x19", Yank},
    {"\t", Complete},
    {"\x12", Search},
    {"\x07", Cancel},
    {"\x1b", Cancel},
    {"\x03", Interrupt},
    {"\x04", EndOfInput},
    {"\x0c", ClearScreen},
    {"\x1a", Suspend},
};

}  // namespace

EditorKey parse_editor_key(std::string_view bytes) {
  const auto* const row = std::ranges::find(kKeys, bytes, &KeyRow::bytes);
  return row != std::end(kKeys) ? row->key : None;
}

}  // namespace relay::cli
