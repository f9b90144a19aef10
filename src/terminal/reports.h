/// What happened on a screen besides its picture, in order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "terminal/program_status.h"
#include "terminal/query.h"

namespace relay::terminal {

struct TitleChanged {
  std::string title;
  bool operator==(const TitleChanged&) const = default;
};
struct StatusChanged {
  ProgramStatus status;
  bool operator==(const StatusChanged&) const = default;
};
struct QuerySeen {
  TerminalQuery query;
  bool operator==(const QuerySeen&) const = default;
};
struct BellRang {
  bool operator==(const BellRang&) const = default;
};
/// Rows left the primary screen's top; their text is in the scrollback under these numbers.
struct RowsScrolledOff {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const RowsScrolledOff&) const = default;
};
struct AlternateEntered {
  bool operator==(const AlternateEntered&) const = default;
};
struct AlternateLeft {
  bool operator==(const AlternateLeft&) const = default;
};
struct FullReset {
  bool operator==(const FullReset&) const = default;
};

using Report = std::variant<TitleChanged, StatusChanged, QuerySeen, BellRang, RowsScrolledOff, AlternateEntered,
                            AlternateLeft, FullReset>;

}  // namespace relay::terminal
