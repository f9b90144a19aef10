relay_fuzzer(settings_text SOURCES settings_text_fuzzer.cc LINKS relay::hooks)
