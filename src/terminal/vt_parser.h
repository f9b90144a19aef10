/// Parses bytes into actions: the grammar of terminals without its meaning.
///
/// Why a table: the grammar (DEC's, as drawn by Paul Williams) has fifteen states and 256 bytes; a table mirrors it,
///   and the loop over it has no case to miss. Runs of plain ASCII and whole UTF-8 characters bypass it.
/// Invariants: the same actions result however the stream is split, except that a run of text may arrive in parts.
///   Strings and parameters are bounded (limits.h). Invalid UTF-8 becomes U+FFFD, one per maximal invalid part.
/// Deliberate: C1 controls are recognized in their seven-bit form (ESC [) only. In UTF-8 a C1 character is stray text,
///   and obeying it would let quoted text control the screen; it is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "terminal/parameters.h"

namespace relay::terminal {

/// The actions of a stream. Views are valid only during the call.
class VtActions {
 public:
  virtual ~VtActions() = default;
  virtual void text(std::string_view ascii) = 0;  // printable ASCII, at least one byte
  virtual void character(char32_t code) = 0;      // any other printable character
  virtual void control(char code) = 0;            // a C0 control
  virtual void escape(char intermediate, char final) = 0;
  virtual void csi(const Sequence& sequence) = 0;
  virtual void osc(std::string_view string) = 0;
  virtual void dcs(const Sequence& head, std::string_view string) = 0;
  virtual void apc(std::string_view string) = 0;
};

class VtParser {
 public:
  void feed(std::string_view bytes, VtActions& actions);

  /// True between characters and sequences.
  [[nodiscard]] bool in_ground_state() const;

 private:
  void ground_text(const char*& at, const char* end, VtActions& actions);
  void ground_utf8(const char*& at, const char* end, VtActions& actions);
  void step(unsigned char byte, VtActions& actions);
  void finish_string(std::uint8_t kind, VtActions& actions);
  void clear_sequence();
  void begin_string();
  void put(char byte);

  std::uint8_t state_ = 0;
  std::uint8_t continuation_bytes_ = 0;  // missing bytes of a UTF-8 character
  unsigned char lowest_ = 0x80;          // bounds of the next continuation byte
  unsigned char highest_ = 0xbf;
  char32_t code_ = 0;
  Sequence sequence_;
  std::string string_;
  bool too_long_ = false;  // the string exceeded its bound
};

}  // namespace relay::terminal
