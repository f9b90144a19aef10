#include "terminal/vt_parser.h"

#include <array>

#include "text/utf8.h"

namespace relay::terminal {
namespace {

enum State : std::uint8_t {
  Ground,
  Escape,
  EscapeIntermediate,
  CsiEntry,
  CsiParameter,
  CsiIntermediate,
  CsiIgnore,
  OscString,
  DcsEntry,
  DcsParameter,
  DcsIntermediate,
  DcsString,
  DcsIgnore,
  ApcString,
  IgnoredString,
  kStates,
};

enum Action : std::uint8_t {
  None,
  Execute,
  Clear,
  Collect,
  Prefix,
  Digit,
  Separator,
  PartSeparator,
  EscapeDone,
  CsiDone,
  StringBegin,
  DcsBegin,
  StringPut,
  StringEnd,
};

struct Step {
  Action action = None;
  State next = Ground;
};

using Table = std::array<std::array<Step, 256>, kStates>;

constexpr void on(Table& table, State state, int first, int last, Action action, State next) {
  for (int byte = first; byte <= last; ++byte) table[state][static_cast<std::size_t>(byte)] = {action, next};
}

/// Parameters, intermediates and the ignored rest have the same structure in CSI and DCS.
constexpr void on_sequence(Table& table, State entry, State parameter, State intermediate, State ignore, Action done,
                           State after, State ignored_after) {
  for (const State state : {entry, parameter}) {
    on(table, state, '0', '9', Digit, parameter);
    on(table, state, ':', ':', PartSeparator, parameter);
    on(table, state, ';', ';', Separator, parameter);
    on(table, state, 0x20, 0x2f, Collect, intermediate);
    on(table, state, 0x40, 0x7e, done, after);
  }
  on(table, entry, '<', '?', Prefix, parameter);
  on(table, parameter, '<', '?', None, ignore);
  on(table, intermediate, 0x20, 0x2f, Collect, intermediate);
  on(table, intermediate, 0x30, 0x3f, None, ignore);
  on(table, intermediate, 0x40, 0x7e, done, after);
  on(table, ignore, 0x40, 0x7e, None, ignored_after);
}

constexpr Table make_table() {
  Table table{};
  for (std::size_t state = 0; state < kStates; ++state)
    for (auto& step : table[state]) step = {None, static_cast<State>(state)};

  on(table, Ground, 0x00, 0x1f, Execute, Ground);

  on(table, Escape, 0x00, 0x1f, Execute, Escape);
  on(table, Escape, 0x20, 0x2f, Collect, EscapeIntermediate);
  on(table, Escape, 0x30, 0x7e, EscapeDone, Ground);
  on(table, Escape, '[', '[', Clear, CsiEntry);
  on(table, Escape, ']', ']', StringBegin, OscString);
  on(table, Escape, 'P', 'P', Clear, DcsEntry);
  on(table, Escape, '_', '_', StringBegin, ApcString);
  on(table, Escape, '^', '^', None, IgnoredString);
  on(table, Escape, 'X', 'X', None, IgnoredString);
  on(table, EscapeIntermediate, 0x00, 0x1f, Execute, EscapeIntermediate);
  on(table, EscapeIntermediate, 0x20, 0x2f, Collect, EscapeIntermediate);
  on(table, EscapeIntermediate, 0x30, 0x7e, EscapeDone, Ground);

  for (const State state : {CsiEntry, CsiParameter, CsiIntermediate, CsiIgnore})
    on(table, state, 0x00, 0x1f, Execute, state);
  on_sequence(table, CsiEntry, CsiParameter, CsiIntermediate, CsiIgnore, CsiDone, Ground, Ground);
  on_sequence(table, DcsEntry, DcsParameter, DcsIntermediate, DcsIgnore, DcsBegin, DcsString, IgnoredString);

  for (const State state : {OscString, DcsString, ApcString}) {
    on(table, state, 0x20, 0xff, StringPut, state);
    on(table, state, 0x1b, 0x1b, StringEnd, Escape);
  }
  on(table, OscString, 0x07, 0x07, StringEnd, Ground);

  // In any state: ESC starts a sequence (and ends a string, above), CAN and SUB abort.
  for (std::size_t index = 0; index < kStates; ++index) {
    const auto state = static_cast<State>(index);
    if (state != OscString && state != DcsString && state != ApcString) on(table, state, 0x1b, 0x1b, Clear, Escape);
    on(table, state, 0x18, 0x18, None, Ground);
    on(table, state, 0x1a, 0x1a, None, Ground);
  }
  return table;
}

constexpr Table kTable = make_table();

constexpr bool is_printable_ascii(char byte) { return byte >= 0x20 && byte < 0x7f; }

}  // namespace

bool VtParser::in_ground_state() const { return state_ == Ground && continuation_bytes_ == 0; }

void VtParser::feed(std::string_view bytes, VtActions& actions) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    if (state_ == Ground) {
      if (continuation_bytes_ != 0 || static_cast<unsigned char>(*at) >= 0x80) {
        ground_utf8(at, end, actions);
        continue;
      }
      if (is_printable_ascii(*at)) {
        ground_text(at, end, actions);
        continue;
      }
    }
    step(static_cast<unsigned char>(*at++), actions);
  }
}

void VtParser::ground_text(const char*& at, const char* end, VtActions& actions) {
  const char* const begin = at;
  while (at != end && is_printable_ascii(*at)) ++at;
  actions.text({begin, static_cast<std::size_t>(at - begin)});
}

void VtParser::ground_utf8(const char*& at, const char* end, VtActions& actions) {
  if (continuation_bytes_ == 0) {
    const text::Utf8Lead lead = text::utf8_lead(static_cast<unsigned char>(*at++));
    if (lead.continuation_bytes == 0) return actions.character(text::kReplacementCharacter);
    continuation_bytes_ = lead.continuation_bytes;
    lowest_ = lead.lowest;
    highest_ = lead.highest;
    code_ = lead.bits;
  }
  while (at != end) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < lowest_ || byte > highest_) {  // not a continuation byte: it is processed again
      continuation_bytes_ = 0;
      return actions.character(text::kReplacementCharacter);
    }
    ++at;
    code_ = (code_ << 6) | (byte & 0x3f);
    lowest_ = 0x80;
    highest_ = 0xbf;
    if (--continuation_bytes_ == 0) {
      if (code_ >= 0xa0) actions.character(code_);
      return;
    }
  }
}

void VtParser::step(unsigned char byte, VtActions& actions) {
  const auto from = state_;
  const Step step = kTable[from][byte];
  state_ = step.next;
  switch (step.action) {
    case None: return;
    case Execute: return actions.control(static_cast<char>(byte));
    case Clear: return clear_sequence();
    case Collect: sequence_.intermediate = sequence_.intermediate == 0 ? static_cast<char>(byte) : '\x7f'; return;
    case Prefix: sequence_.prefix = static_cast<char>(byte); return;
    case Digit: return sequence_.parameters.digit(byte - '0');
    case Separator: return sequence_.parameters.separator();
    case PartSeparator: return sequence_.parameters.part_separator();
    case EscapeDone: return actions.escape(sequence_.intermediate, static_cast<char>(byte));
    case CsiDone: sequence_.final = static_cast<char>(byte); return actions.csi(sequence_);
    case DcsBegin: sequence_.final = static_cast<char>(byte); return begin_string();
    case StringBegin: return begin_string();
    case StringPut: return put(static_cast<char>(byte));
    case StringEnd: return finish_string(from, actions);
  }
}

void VtParser::clear_sequence() {
  sequence_.parameters.clear();
  sequence_.prefix = sequence_.intermediate = sequence_.final = 0;
}

void VtParser::finish_string(std::uint8_t kind, VtActions& actions) {
  if (!too_long_) {
    if (kind == OscString) actions.osc(string_);
    if (kind == DcsString) actions.dcs(sequence_, string_);
    if (kind == ApcString) actions.apc(string_);
  }
  clear_sequence();  // the ESC that ended the string may start another sequence
}

void VtParser::begin_string() {
  string_.clear();
  too_long_ = false;
}

void VtParser::put(char byte) {
  if (string_.size() < kMaxStringBytes)
    string_ += byte;
  else
    too_long_ = true;
}

}  // namespace relay::terminal
