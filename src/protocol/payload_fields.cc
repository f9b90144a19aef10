#include "protocol/payload_fields.h"

#include <cmath>

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "text/iso_time.h"
#include "text/json_members.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

class TextCollector final : public text::ElementVisitor {
 public:
  TextCollector(std::size_t max_count, std::size_t max_bytes) : max_count_{max_count}, max_bytes_{max_bytes} {}
  void element(text::JsonSlice value) override {
    if (bad_ || value.kind != text::JsonKind::String || texts_.size() == max_count_) {
      bad_ = true;
      return;
    }
    texts_.push_back(text::decode_string(value.raw));
    bad_ = texts_.back().size() > max_bytes_;
  }
  [[nodiscard]] bool bad() const { return bad_; }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::size_t max_count_;
  std::size_t max_bytes_;
  std::vector<std::string> texts_;
  bool bad_ = false;
};

Failure bad(const Field& field, std::string_view problem) {
  return fail(Errc::BadField, format("the field \"{}\" {}", field.name, problem));
}

Failure too_long(const Field& field, std::size_t max_bytes) {
  return bad(field, format("is longer than {} bytes; send less", max_bytes));
}

}  // namespace

Result<void> read_fields(std::string_view object, std::initializer_list<Field*> fields) {
  return text::detail::for_each_member(object, 0,
                                       [fields](std::string_view key, text::JsonKind kind, std::string_view raw) {
                                         for (Field* const field : fields) {
                                           if (field->name == key) {
                                             field->value = {kind, raw};
                                             return;
                                           }
                                         }
                                       });
}

Result<void> check_forwardable(std::string_view payload) {
  constexpr std::size_t kMaxBytes = kMaxFrameBytes - kEnvelopeReserveBytes;
  if (payload.size() <= kMaxBytes) return {};
  return fail(Errc::BadField,
              format("this payload has {} bytes, the limit is {}; send less at once", payload.size(), kMaxBytes));
}

Result<std::string> read_string(const Field& field, std::size_t max_bytes) {
  if (!field.present()) return std::string{};
  if (field.value.kind != text::JsonKind::String) return bad(field, "must be a string");
  auto text = text::decode_string(field.value.raw);
  if (text.size() > max_bytes) return too_long(field, max_bytes);
  return text;
}

Result<std::string> read_required_string(const Field& field, std::size_t max_bytes) {
  if (!field.present()) return fail(Errc::MissingField, format("the field \"{}\" is missing", field.name));
  auto text = RELAY_TRY(read_string(field, max_bytes));
  if (text.empty()) return bad(field, "must not be empty");
  return text;
}

Result<std::string> read_truncated_string(const Field& field, std::size_t max_bytes) {
  auto text = RELAY_TRY(read_string(field, std::string::npos));
  text.resize(text::truncate_utf8(text, max_bytes).size());
  text.shrink_to_fit();
  return text;
}

Result<std::vector<std::string>> read_strings(const Field& field, std::size_t max_count, std::size_t max_bytes) {
  if (!field.present()) return std::vector<std::string>{};
  TextCollector collector{max_count, max_bytes};
  if (field.value.kind != text::JsonKind::Array || !text::scan_array(field.value.raw, collector) || collector.bad()) {
    return bad(field, format("must be an array of at most {} strings of at most {} bytes", max_count, max_bytes));
  }
  return collector.take();
}

Result<DeliveryModes> read_modes(const Field& field) {
  DeliveryModes modes;
  for (const auto& name : RELAY_TRY(read_strings(field, kMaxEventTypes, kMaxKindBytes))) {
    const auto mode = parse_delivery_mode(name);
    if (!mode) return fail(Errc::BadField, format("the field \"{}\" names no delivery mode: '{}'", field.name, name));
    modes.add(*mode);
  }
  return modes;
}

Result<bool> read_bool(const Field& field, bool when_absent) {
  if (!field.present()) return when_absent;
  if (field.value.kind != text::JsonKind::Bool) return bad(field, "must be true or false");
  return field.value.raw == "true";
}

Result<std::optional<std::int64_t>> read_integer(const Field& field) {
  if (!field.present()) return std::nullopt;
  if (field.value.kind == text::JsonKind::Number) {
    if (const auto integer = text::decode_integer(field.value.raw)) return integer;
  }
  return bad(field, "must be a whole number");
}

Result<std::int64_t> read_count(const Field& field) {
  const auto integer = RELAY_TRY(read_integer(field)).value_or(0);
  if (integer < 0) return bad(field, "must not be negative");
  return integer;
}

Result<WallMs> read_time(const Field& field) {
  if (!field.present()) return WallMs{0};
  std::optional<WallMs> time;
  if (field.value.kind == text::JsonKind::Number) {
    // Date arithmetic in JavaScript leaves fractions of a millisecond behind; they are dropped.
    const auto number = text::decode_number(field.value.raw);
    if (number && std::abs(*number) <= text::kLastTimeMs) time = static_cast<WallMs>(*number);
  } else if (field.value.kind == text::JsonKind::String) {
    time = text::parse_iso_time(text::decode_string(field.value.raw));
  }
  if (!time || *time < 0) return bad(field, "must be milliseconds since 1970 or an ISO 8601 time with a zone");
  return *time;
}

Result<std::string_view> read_object(const Field& field) {
  if (!field.present()) return std::string_view{};
  if (field.value.kind != text::JsonKind::Object) return bad(field, "must be an object");
  return field.value.raw;
}

}  // namespace relay::protocol
