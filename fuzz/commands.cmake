relay_fuzzer(commands SOURCES commands_fuzz.cc LINKS relay::commands relay::profiles)
