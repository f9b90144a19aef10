relay_fuzzer(cost_models SOURCES cost_models_fuzz.cc LINKS relay::events)
