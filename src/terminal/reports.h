/// Events of a screen other than changes of its cells, in order.
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
struct QueryReceived {
  TerminalQuery query;
  bool operator==(const QueryReceived&) const = default;
};
struct BellRang {
  bool operator==(const BellRang&) const = default;
};
/// Rows left the top of the primary screen; their text is in the scrollback under these numbers.
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

using Report = std::variant<TitleChanged, StatusChanged, QueryReceived, BellRang, RowsScrolledOff, AlternateEntered,
                            AlternateLeft, FullReset>;

}  // namespace relay::terminal
