/// All bounds of the terminal model: no program output can cost more.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relay::terminal {

inline constexpr int kMinColumns = 2;  // a wide character must fit
inline constexpr int kMaxColumns = 1'000;
inline constexpr int kMinRows = 1;
inline constexpr int kMaxRows = 500;

inline constexpr std::size_t kMaxParameters = 32;            // of one control sequence; more are dropped
inline constexpr std::uint32_t kMaxParameterValue = 65'535;  // larger numbers are clamped to this
inline constexpr std::size_t kMaxStringBytes =
    8'192;  // of an OSC, DCS or APC string; a longer one is consumed and ignored
inline constexpr std::size_t kMaxClusterBytes =
    64;  // of one cell's text: a base and its marks; later marks are dropped
inline constexpr std::size_t kMaxTitleBytes = 1'024;
inline constexpr std::size_t kMaxStatusMessageBytes = 4'096;
inline constexpr std::size_t kMaxStatusNameBytes = 64;  // application and kind of a program status
inline constexpr std::size_t kMaxReports = 4'096;       // not yet taken; the oldest is dropped
inline constexpr std::size_t kMaxKeyboardStack = 16;    // pushed keyboard flags; the oldest is dropped, as in kitty
inline constexpr std::size_t kScrollbackRows = 10'000;
inline constexpr std::size_t kScrollbackBytes = 4u << 20;

inline constexpr std::size_t kMaxInputSequenceBytes = 512;  // of a CSI from the user's terminal
inline constexpr int kEscapeTimeoutMs = 50;                 // a lone ESC is the Escape key after this
inline constexpr int kReplyTimeoutMs = 2'000;               // how long to wait for the rest of a reply

}  // namespace relay::terminal
