relay_fuzzer(profile SOURCES profile_fuzz.cc LINKS relay::profiles)
    relay_fuzzer(cast SOURCES cast_fuzz.cc LINKS relay::profiles)
