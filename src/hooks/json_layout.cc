#include "hooks/json_layout.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/json.h"
#include "base/toml.h"
#include "hooks/settings.h"

namespace relay::hooks {
namespace {

/// Walks a text that is valid JSON, 64 levels deep at most.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_{text} {}

  Result<LayoutNode> value() {
    skip_blanks();
    LayoutNode node;
    node.begin = at_;
    node.kind = text_[at_];
    if (node.kind == '{' || node.kind == '[') {
      RELAY_TRY(children(node));
    } else if (node.kind == '"') {
      skip_string();
    } else {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
    node.end = at_;
    return node;
  }

 private:
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  void skip_string() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  Result<std::string> key() {
    const auto begin = at_;
    skip_string();
    const auto name = RELAY_TRY(parse_json(text_.substr(begin, at_ - begin)));
    skip_blanks();
    ++at_;  // the colon
    return std::string{name.as_string()};
  }

  Result<void> children(LayoutNode& node) {
    const char close = node.kind == '{' ? '}' : ']';
    std::set<std::string> seen;
    ++at_;
    for (skip_blanks(); text_[at_] != close; skip_blanks()) {
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      LayoutMember member;
      member.begin = at_;
      if (node.kind == '{') {
        member.key = RELAY_TRY(key());
        if (!seen.insert(member.key).second) {
          return fail(format("it has \"{}\" twice in one object", printable_name(member.key)));
        }
      }
      member.value = RELAY_TRY(value());
      node.children.push_back(std::move(member));
    }
    ++at_;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const LayoutMember* LayoutNode::member(std::string_view key) const {
  if (kind != '{') return nullptr;
  for (const auto& child : children) {
    if (child.key == key) return &child;
  }
  return nullptr;
}

Result<LayoutNode> read_layout(std::string_view text) {
  if (const auto parsed = parse_json(text); !parsed) {
    if (parse_settings(text, Comments::Skip)) return fail("it has comments, which JSON does not allow");
    return Failure{parsed.error()};
  }
  return Walker{text}.value();
}

}  // namespace relay::hooks
