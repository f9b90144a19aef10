/// Builds JSON text in one pass, without a tree.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace relay::text {

/// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// An object or array under construction: `JsonWriter w; w.field("a", 1).field("b", "x"); w.take()`.
///
/// The writer places commas. begin_… and end() must balance.
class JsonWriter {
 public:
  JsonWriter();

  JsonWriter& field(std::string_view key, std::string_view text);
  JsonWriter& field(std::string_view key, const char* text) { return field(key, std::string_view{text}); }
  JsonWriter& field(std::string_view key, const std::string& text) { return field(key, std::string_view{text}); }
  JsonWriter& field(std::string_view key, bool value);
  JsonWriter& field(std::string_view key, double value);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& field(std::string_view key, T value) {
    return integer(key, static_cast<std::int64_t>(value));
  }
  /// A value that is already JSON.
  JsonWriter& raw(std::string_view key, std::string_view json);
  /// Writes the field unless the text is empty.
  JsonWriter& optional(std::string_view key, std::string_view text);

  JsonWriter& begin_object(std::string_view key);
  JsonWriter& begin_array(std::string_view key);
  JsonWriter& begin_element();                 // an object inside an array
  JsonWriter& element(std::string_view text);  // a string inside an array
  JsonWriter& raw_element(std::string_view json);
  JsonWriter& end();  // closes the innermost object or array

  [[nodiscard]] std::size_t size() const { return text_.size(); }

  /// Closes all open levels and returns the text.
  std::string take();

 private:
  void begin_object();
  void key(std::string_view key);
  void comma();
  JsonWriter& integer(std::string_view key, std::int64_t value);

  std::string text_;
  std::string closers_;
  bool first_ = true;
};

}  // namespace relay::text
