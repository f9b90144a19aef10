/// The hot paths of the program, in a form that can be counted.
///
/// Invariants: every run of a path does the same work: no clock, no thread, no randomness but a fixed seed. `prepare`
///   creates its input and is not counted. A path asserts its results, so a broken path is not counted as cheap.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace relay::cost {

/// Does the work once and returns the number of units. May be called again.
using Workload = std::move_only_function<std::uint64_t()>;

struct Path {
  std::string_view name;
  std::string_view unit;  // of a count
  double allowed;         // accepted increase over the recorded count: 0.25 is a quarter
  std::string_view description;
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
Workload prepare_commands();
Workload prepare_json();
// event_path.cc
Workload prepare_event();

}  // namespace relay::cost
