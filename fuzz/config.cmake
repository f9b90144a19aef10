relay_fuzzer(settings SOURCES settings_fuzz.cc LINKS relay::config)
