/// Deliveries waiting for their moment, in order, and the text each becomes.
#pragma once

#include <deque>
#include <string>

#include "client/link.h"
#include "host/injection.h"

namespace relay::host {

struct Letter {
  client::Place place;
  std::string text;  // as it is put before the agent
  Injection injection;
  std::string last_reason = {};  // told to the daemon already
};

/// What a DELIVER says, as one line for the agent.
std::string text_of(const client::Incoming& incoming);

}  // namespace relay::host
