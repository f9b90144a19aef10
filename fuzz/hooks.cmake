relay_fuzzer(settings_text SOURCES settings_text_fuzz.cc LINKS relay::hooks)
