#include "records/change_codec.h"

#include <bit>
#include <boost/pfr/core.hpp>
#include <concepts>
#include <limits>
#include <type_traits>

namespace relay::records {
namespace {

template <class T>
constexpr bool kIsNamed = false;
template <class T, class Tag>
constexpr bool kIsNamed<Named<T, Tag>> = true;
template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

/// The last value of an enumeration; larger values are refused.
template <class Enum>
constexpr Enum kLast = Enum::kUnknown;
template <>
constexpr DeliveryState kLast<DeliveryState> = DeliveryState::Dead;
template <>
constexpr Proof kLast<Proof> = Proof::Seen;
template <>
constexpr FrameKind kLast<FrameKind> = FrameKind::ShadowTrigger;
template <>
constexpr Hold kLast<Hold> = Hold::Policy;
template <>
constexpr protocol::EntityType kLast<protocol::EntityType> = protocol::EntityType::User;
template <>
constexpr protocol::DeliveryPolicyAction kLast<protocol::DeliveryPolicyAction> = protocol::DeliveryPolicyAction::Refuse;

void put_number(std::uint64_t number, std::string& to) {
  char bytes[10];
  std::size_t count = 0;
  for (; number >= 0x80; number >>= 7) bytes[count++] = static_cast<char>(number | 0x80);
  bytes[count++] = static_cast<char>(number);
  to.append(bytes, count);
}

std::uint64_t modes_bits(protocol::DeliveryModes modes) {
  std::uint64_t bits = 0;
  for (const auto mode : protocol::kDeliveryModes)
    if (modes.has(mode)) bits |= std::uint64_t{1} << static_cast<unsigned>(mode);
  return bits;
}

template <class T>
void put(const T& value, std::string& to) {
  if constexpr (kIsNamed<T>) {
    put(value.value(), to);
  } else if constexpr (std::same_as<T, std::string>) {
    put_number(value.size(), to);
    to.append(value);
  } else if constexpr (std::same_as<T, double>) {
    put_number(std::bit_cast<std::uint64_t>(value), to);
  } else if constexpr (std::same_as<T, protocol::Lane>) {
    put_number(protocol::lane_code(value), to);
  } else if constexpr (std::same_as<T, protocol::DeliveryModes>) {
    put_number(modes_bits(value), to);
  } else if constexpr (std::is_enum_v<T>) {
    put_number(static_cast<std::uint64_t>(value), to);
  } else if constexpr (std::signed_integral<T>) {
    const auto wide = static_cast<std::int64_t>(value);
    put_number((static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63), to);
  } else if constexpr (std::integral<T>) {
    put_number(value, to);
  } else if constexpr (kIsOptional<T>) {
    put_number(value.has_value() ? 1 : 0, to);
    if (value) put(*value, to);
  } else if constexpr (kIsVector<T>) {
    put_number(value.size(), to);
    for (const auto& one : value) put(one, to);
  } else {
    boost::pfr::for_each_field(value, [&](const auto& field) { put(field, to); });
  }
}

/// Reads from the front of the bytes; after the first invalid value it reads nothing more.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_{bytes} {}

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::string_view left() const { return left_; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const auto byte = static_cast<std::uint8_t>(left_.front());
      left_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return refuse();
  }

  /// The number of members that follow; each takes at least one byte.
  std::size_t count() {
    const auto value = number();
    return value <= left_.size() ? static_cast<std::size_t>(value) : refuse();
  }

  template <class T>
  void get(T& value) {
    if constexpr (kIsNamed<T>) {
      typename T::Value inner{};
      get(inner);
      value = T{std::move(inner)};
    } else if constexpr (std::same_as<T, std::string>) {
      const auto size = count();
      value.assign(left_.substr(0, size));
      left_.remove_prefix(size);
    } else if constexpr (std::same_as<T, double>) {
      value = std::bit_cast<double>(number());
    } else if constexpr (std::same_as<T, protocol::Lane>) {
      if (const auto lane = protocol::lane_from_code(number()))
        value = *lane;
      else
        refuse();
    } else if constexpr (std::same_as<T, protocol::DeliveryModes>) {
      const auto bits = number();
      for (const auto mode : protocol::kDeliveryModes)
        if ((bits >> static_cast<unsigned>(mode) & 1) != 0) value.add(mode);
      if (modes_bits(value) != bits) refuse();
    } else if constexpr (std::is_enum_v<T>) {
      const auto wanted = number();
      if (wanted > static_cast<std::uint64_t>(kLast<T>)) return void(refuse());
      value = static_cast<T>(wanted);
    } else if constexpr (std::signed_integral<T>) {
      static_assert(sizeof(T) == sizeof(std::int64_t));
      const auto zigzag = number();
      value = static_cast<T>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
    } else if constexpr (std::integral<T>) {
      const auto wide = number();
      if (wide > std::numeric_limits<T>::max()) return void(refuse());
      value = static_cast<T>(wide);
    } else if constexpr (kIsOptional<T>) {
      const auto has = number();
      if (has > 1) return void(refuse());
      if (has == 1) get(value.emplace());
    } else if constexpr (kIsVector<T>) {
      for (auto left = count(); left > 0 && good_; --left) get(value.emplace_back());
    } else {
      boost::pfr::for_each_field(value, [&](auto& field) { get(field); });
    }
  }

 private:
  std::uint64_t refuse() {
    good_ = false;
    left_ = {};
    return 0;
  }

  std::string_view left_;
  bool good_ = true;
};

/// Default-constructs the alternative with that index.
template <std::size_t... Index>
bool construct_change(Change& change, std::uint64_t index, std::index_sequence<Index...>) {
  return ((index == Index && (change.emplace<Index>(), true)) || ...);
}

}  // namespace

void encode(const Changes& changes, std::string& to) {
  put_number(changes.size(), to);
  for (const auto& change : changes) {
    put_number(change.index(), to);
    std::visit([&](const auto& one) { put(one, to); }, change);
  }
}

Result<Changes> decode_changes(std::string_view& bytes) {
  Reader reader{bytes};
  Changes changes;
  for (auto left = reader.count(); left > 0 && reader.good(); --left) {
    auto& change = changes.emplace_back();
    if (!construct_change(change, reader.number(), std::make_index_sequence<std::variant_size_v<Change>>{}))
      return fail("the journal contains a change of a type that this version does not support");
    std::visit([&](auto& one) { reader.get(one); }, change);
  }
  if (!reader.good()) return fail("the journal contains a change that is cut or was not written by this program");
  bytes = reader.left();
  return changes;
}

}  // namespace relay::records
