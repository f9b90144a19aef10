#include "text/json_errors.h"

#include <utility>

namespace relay::text {

std::string_view describe(JsonErrc code) {
  switch (code) {
    case JsonErrc::BadUtf8: return "the text is not UTF-8";
    case JsonErrc::BadJson: return "the text is not valid JSON";
    case JsonErrc::NotAnObject: return "the JSON is not an object";
    case JsonErrc::NotAnArray: return "the JSON is not an array";
    case JsonErrc::TooDeep: return "the JSON is nested too deeply";
  }
  std::unreachable();
}

}  // namespace relay::text
