/// The hot paths of the program, in a form that can be counted.
///
/// Invariants: a path does the same work whenever it is run: no clock, no thread, no randomness but a fixed seed. What
///   it needs is made by `prepare`, which is not counted; a path that goes wrong asserts, so nothing cheap and broken
///   is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace relay::cost {

/// Does the work once and says how many units that were. May be called again.
using Workload = std::move_only_function<std::uint64_t()>;

struct Path {
  std::string_view name;
  std::string_view unit;  // what one count is of
  double allowed;         // how much more than recorded passes, as a share: 0.25
  std::string_view what;  // in words
  Workload (*prepare)() = nullptr;
};

std::span<const Path> paths();
const Path* find_path(std::string_view name);

// workspace_paths.cc
Workload prepare_frame();
Workload prepare_broadcast();
// store_path.cc
Workload prepare_store();
// text_paths.cc
Workload prepare_terminal();
Workload prepare_speech();
Workload prepare_json();
// event_path.cc
Workload prepare_event();

}  // namespace relay::cost
