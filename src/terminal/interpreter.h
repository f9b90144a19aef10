/// Maps the actions of the parser to operations on the display.
///
/// An unknown sequence changes nothing. Everything that is not text ends the current cluster, so that a mark behind a
/// moved cursor does not join the wrong character.
#pragma once

#include "terminal/display.h"
#include "terminal/vt_parser.h"

namespace relay::terminal {

class Interpreter final : public VtActions {
 public:
  explicit Interpreter(Display& display) : display_{display} {}  // outlives this

  void text(std::string_view ascii) override { display_.text(ascii); }
  void character(char32_t code) override { display_.character(code); }
  void control(char code) override;
  void escape(char intermediate, char final) override;
  void csi(const Sequence& sequence) override;
  void osc(std::string_view string) override;                        // interpreter_strings.cc
  void dcs(const Sequence& head, std::string_view string) override;  // interpreter_strings.cc
  void apc(std::string_view string) override;                        // interpreter_strings.cc

 private:
  void plain_csi(const Sequence& sequence);
  void private_csi(const Sequence& sequence);
  void greater_csi(const Sequence& sequence);
  void keyboard(const Sequence& sequence);
  void set_modes(const Sequence& sequence, ModeKind kind, bool on);
  void set_private_mode(int number, bool on);
  void window_operation(const Parameters& parameters);
  void mode_query(const Sequence& sequence, ModeKind kind);
  void report_query(TerminalQuery query) { display_.report(QueryReceived{std::move(query)}); }

  Display& display_;
};

}  // namespace relay::terminal
