/// What the agent said to the relay, carried out: messages sent, agents started and ended, files picked up.
///
/// Invariants: what is not possible is explained to the agent, with the reason; a message is in the outbox, on disk,
///   before this returns.
/// Ownership: borrows the link and the listener, which outlive it. Threading: loop thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "client/link.h"
#include "speech/utterance.h"

namespace relay::host {

class VoiceListener {
 public:
  virtual ~VoiceListener() = default;
  /// Something was understood and is on its way.
  virtual void on_said(std::string_view to, std::string_view kind) = 0;
  /// Something was not; a sentence for the agent.
  virtual void on_unsaid(std::string_view why) = 0;
};

class Voice {
 public:
  /// `files` is where the agent lays down messages as files.
  Voice(client::Link& link, std::string files, VoiceListener& listener)
      : link_{link}, files_{std::move(files)}, listener_{listener} {}

  void carry_out(const speech::Utterance& utterance);

 private:
  void carry_out(const speech::Command& command);
  void carry_out(const speech::Spawn& spawn);
  void carry_out(const speech::Release& release);
  void carry_out(const speech::FileTrigger& trigger);
  void carry_out(const speech::Mistake& mistake);
  void carry_out(const speech::Summary&) {}     // kept with the session's history later
  void carry_out(const speech::SessionEnd&) {}  // likewise

  void ask(protocol::MessageType type, std::string payload, const std::string& what);

  client::Link& link_;
  std::string files_;
  VoiceListener& listener_;
};

}  // namespace relay::host
