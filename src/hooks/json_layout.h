/// Where the values of a JSON text stand in its bytes.
///
/// Why: a person's settings are edited where they stand, so that their order, their indentation and their way of
///   writing numbers stay. A parser forgets all that.
/// Invariants: only text that the strict parser took has a layout; children are in the order of the text, and none
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
  std::size_t end = 0;  // behind the last byte
  char kind = 0;        // its first byte: { [ " t f n - 0…9
  std::vector<LayoutMember> children;

  /// The member of that name; null when there is none or this is no object.
  [[nodiscard]] const LayoutMember* member(std::string_view key) const;
};

struct LayoutMember {
  std::string key = {};   // empty in an array
  std::size_t begin = 0;  // of the key, or of the value in an array
  LayoutNode value = {};
};

/// Fails on what is no JSON (comments are said by name) and on a key that an object has twice: which of them counts is
/// for its reader to know, not for us.
Result<LayoutNode> read_layout(std::string_view text);

}  // namespace relay::hooks
