"""Measures llama.cpp's own Python package: tokens per CPU-second, one thread. Prints one JSON object.

usage: anchor.py MODEL.gguf PROMPT.txt TOKENS
"""

import json
import sys
import time

import xllamacpp as xlc

model, prompt_file, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3])
prompt = open(prompt_file, encoding="utf-8").read()

params = xlc.CommonParams()
params.model.path = model
params.n_ctx = 4096
params.n_batch = 256
params.n_ubatch = 256
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.warmup = False
params.verbosity = -1
server = xlc.Server(params)


def ask(count):
    before = time.process_time()
    answer = server.handle_completions(
        {"prompt": prompt, "n_predict": count, "temperature": 0, "ignore_eos": True, "cache_prompt": True}
    )
    return time.process_time() - before, answer


# The first question reads the prompt, the second finds it read and only writes.
read_seconds, first = ask(1)
write_seconds, second = ask(tokens)
read = first["timings"]["prompt_n"]
written = second["timings"]["predicted_n"]
print(json.dumps({"read": read / read_seconds, "write": written / write_seconds, "tokens": read}))
