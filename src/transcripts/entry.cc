#include "transcripts/entry.h"

namespace relay::transcripts {

std::string_view complete_lines(const Text& text) {
  const std::string_view all = text.text;
  if (text.whole) return all;
  const auto end = all.rfind('\n');
  return end == std::string_view::npos ? std::string_view{} : all.substr(0, end + 1);
}

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::User: return "user";
    case Origin::Peer: return "peer";
    case Origin::Hook: return "hook";
    case Origin::Program: return "program";
  }
  return "";
}

std::string_view name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::RateLimit: return "rate-limit";
    case FailureKind::UsageLimit: return "usage-limit";
    case FailureKind::Overloaded: return "overloaded";
    case FailureKind::Login: return "login";
    case FailureKind::Other: return "other";
  }
  return "";
}

std::string_view name_of(TurnOutcome outcome) {
  switch (outcome) {
    case TurnOutcome::Done: return "done";
    case TurnOutcome::Interrupted: return "interrupted";
    case TurnOutcome::Failed: return "failed";
  }
  return "";
}

}  // namespace relay::transcripts
