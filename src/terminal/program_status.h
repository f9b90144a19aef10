/// OSC 7501, the program status protocol: an agent reports its state.
///
///   ESC ] 7501 ; state=S:app=A[:kind=K][:msg=BASE64] (BEL | ST)
///
/// A program may first query support: `7501 ; ?`. The reply is the same sequence (query_reply.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relay::terminal {

enum class ProgramState : std::uint8_t { Idle, Working, Blocked, Done, Error, Clear };
enum class BlockedKind : std::uint8_t { None, Permission, Question, Auth, Other };

struct ProgramStatus {
  ProgramState state = ProgramState::Clear;
  BlockedKind kind = BlockedKind::None;
  std::string app;
  std::string message;  // decoded; control characters are replaced by blanks
  bool operator==(const ProgramStatus&) const = default;
};

/// Parses the part behind "7501;". Empty without a defined state; unknown fields are ignored.
std::optional<ProgramStatus> parse_program_status(std::string_view fields);

std::string_view name_of(ProgramState state);

}  // namespace relay::terminal
