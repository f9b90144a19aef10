#include "precompiled.h"

#include <gtest/gtest.h>
