relay_fuzzer(settings SOURCES settings_fuzzer.cc LINKS relay::config)
