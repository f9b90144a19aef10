/// `hosts/<session>.ended`: how a session ended, written by its host for a daemon that may be offline. docs/spec/host.md.
///
/// Invariants: written whole or not at all, durable when `write_ended_session` has returned, private to the owner, at
///   most protocol::kMaxEndedSessionBytes. The daemon removes a record once its end is durable.
/// Threading: any thread; the files belong to one workspace.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/ended_session.h"

namespace relay::host {

/// `directory` is that of the hosts' records.
Result<void> write_ended_session(const std::string& directory, const protocol::EndedSession& ended);

/// The oldest kMaxEndedSessions; the next call finds more. A file that cannot be read is logged and left; one that is not a
/// record is logged and removed.
inline constexpr std::size_t kMaxEndedSessions = 1'000;
std::vector<protocol::EndedSession> ended_sessions(const std::string& directory);

void remove_ended_session(const std::string& directory, const std::string& session);

}  // namespace relay::host
