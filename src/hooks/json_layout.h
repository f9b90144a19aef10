/// The positions of the values in a JSON text.
///
/// Why: a user's settings are edited in place, so that their order, indentation and number formats stay. A parser does
///   not preserve these.
/// Invariants: only text that the strict parser accepts has a layout; children are in the order of the text, and none
///   overlap.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::hooks {

struct LayoutMember;

struct LayoutNode {
  std::size_t begin = 0;
  std::size_t end = 0;  // after the last byte
  char kind = 0;        // its first byte: { [ " t f n - 0…9
  std::vector<LayoutMember> children;

  /// The member of that name; null when it is absent or the node is not an object.
  [[nodiscard]] const LayoutMember* member(std::string_view key) const;
};

struct LayoutMember {
  std::string key = {};   // empty in an array
  std::size_t begin = 0;  // of the key, or of the value in an array
  LayoutNode value = {};
};

/// Fails on invalid JSON (the error names comments) and on a duplicate key: which of the two counts depends on the
/// agent that reads the file.
Result<LayoutNode> read_layout(std::string_view text);

}  // namespace relay::hooks
