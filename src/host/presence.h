/// How a host presents itself to the daemon: who it is, what it does, what it can take.
#pragma once

#include <string>
#include <string_view>

#include "host/record.h"
#include "profiles/judge.h"
#include "protocol/hello.h"

namespace relay::host {

inline constexpr std::uint32_t kMaxLetters = 2'048;  // those that are held until somebody asks count too

protocol::Hello hello_of(const HostRecord& record, const std::string& claim_token);

/// SESSION_STATE. `reason`: why mail waits; empty: it does not.
std::string session_state(profiles::State state, std::string_view reason, std::string_view capabilities);

/// Why words with Enter cannot be typed into that agent in that state; empty when they can.
std::string why_not_typed(profiles::State state, std::string_view name);

}  // namespace relay::host
