/// Kinds of damage to a file, by a disk or a user.
#pragma once

#include <map>
#include <string>

#include "base/random.h"

namespace relay::damage {

/// The files of a store: name to contents.
using Files = std::map<std::string, std::string>;

Files read_files(const std::string& directory);
void write_files(const std::string& directory, const Files& files);

/// Damages one of them; `old` is an earlier state of the same store. Returns a description.
std::string damage_one(Files& files, const Files& old, Random& random);

}  // namespace relay::damage
