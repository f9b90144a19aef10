/// All limits of the wire protocol. docs/spec/wire.md lists them for other implementations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relay::protocol {

// Framing.
inline constexpr std::size_t kMaxFrameBytes = 1024 * 1024;   // largest JSON body of one frame
inline constexpr std::size_t kMaxHeaderBytes = 5;            // 1 format byte + 4 length bytes
inline constexpr std::size_t kEnvelopeReserveBytes = 4'096;  // room for names, ids, numbers around a payload

// Names and ids, in bytes.
inline constexpr std::size_t kMaxNameBytes = 128;
inline constexpr std::size_t kMaxIdBytes = 256;
inline constexpr std::size_t kMaxTopicBytes = 256;
inline constexpr std::size_t kMaxTokenBytes = 512;
inline constexpr std::size_t kMaxOutboxBytes = 64;  // the epoch of a durable outbox
inline constexpr std::size_t kMaxKindBytes = 64;
inline constexpr std::size_t kMaxDescriptionBytes = 4'096;  // task, model, team ...: longer ones are cut
inline constexpr std::size_t kMaxPathBytes = 4'096;
inline constexpr std::size_t kMaxCapabilitiesBytes = 2'048;
inline constexpr std::size_t kMaxReasonBytes = 4'096;  // reasons and error sentences: longer ones are cut
inline constexpr std::size_t kMaxSearchBytes = 1'024;

// Agents that are started on request.
inline constexpr std::size_t kMaxCommandBytes = 4'096;  // `cli`, and each of `args`
inline constexpr std::size_t kMaxArguments = 64;
inline constexpr std::size_t kMaxInputBytes = 64 * 1024;  // keys of one SEND_INPUT

// Sessions.
inline constexpr std::size_t kMaxAnswers = 16;            // of one ANSWER, to the questions of one request
inline constexpr std::size_t kMaxAnswerBytes = 8 * 1024;  // of each
inline constexpr std::int64_t kHandshakeTimeoutMs = 5'000;
inline constexpr std::int64_t kHeartbeatMs = 5'000;
inline constexpr std::uint32_t kDefaultInflight = 256;
inline constexpr std::uint32_t kMaxInflight = 4'096;
inline constexpr std::size_t kMaxTopicsPerSession = 1'024;
inline constexpr std::size_t kMaxChannelsPerAgent = 1'024;
inline constexpr std::size_t kMaxStreamsInResume = 4'096;
inline constexpr std::size_t kMaxEventTypes = 256;  // in one EVENTS_SUBSCRIBE
inline constexpr std::size_t kMaxShadowTriggers = 16;

// Delivery.
inline constexpr std::uint32_t kMaxAttempts = 8;                    // failures before a delivery is dead
inline constexpr std::int64_t kMaxRetryAgeMs = 24LL * 3600 * 1000;  // no retry that long after the first failure
inline constexpr std::int64_t kFirstRetryMs = 1'000;                // doubled with every failure, up to kMaxRetryMs
inline constexpr std::int64_t kMaxRetryMs = 300'000;
inline constexpr std::size_t kMaxEvidenceBytes = 256;
inline constexpr std::size_t kMaxPolicyRules = 64;
inline constexpr std::size_t kMaxAttachments = 16;
inline constexpr std::size_t kMaxAttachmentNameBytes = 255;
inline constexpr std::size_t kMaxMentions = 256;
inline constexpr std::size_t kMaxEventTextBytes = 64 * 1024;  // of a message inside an event: longer ones are cut
inline constexpr std::size_t kMaxEventPartBytes = 8 * 1024;   // metadata, an attachment: longer ones are left out
inline constexpr std::int64_t kAckTimeoutMs = 5'000;          // first resend of an unacknowledged DELIVER
inline constexpr std::int64_t kMaxAckTimeoutMs = 60'000;      // later resends double up to this
inline constexpr std::int64_t kMaxTtlMs = 30LL * 24 * 3600 * 1000;

// Queries.
inline constexpr std::size_t kMaxQueryRows = 1'000;
inline constexpr std::size_t kDefaultInboxRows = 50;
inline constexpr std::size_t kDefaultMessageRows = 100;
inline constexpr std::size_t kMaxResponseBytes = 768 * 1024;  // rows stop here, so that a response always fits a frame

// Blocking send and consensus.
inline constexpr std::int64_t kDefaultSyncTimeoutMs = 30'000;
inline constexpr std::int64_t kMaxSyncTimeoutMs = 24LL * 3600 * 1000;
inline constexpr std::int64_t kDefaultProposalMs = 300'000;
inline constexpr std::size_t kMaxParticipants = 1'024;

}  // namespace relay::protocol
