// Calls the limiter of limiter.h as a benchmark, or as a check.
//
//   floor check|time MAX_KEYS CALLS CAPACITY RATE TOKEN STEP_MS SAMPLES HASH_KEY HASH_KEY
//
// Standard input: the keys of CALLS calls, 32-bit numbers as this machine writes them. Before each call the clock,
// which begins at one STEP_MS, moves on by one. Standard output: one JSON object.
//
//   check   the calls once over: how many were allowed, denied, ... and a digest of the answers in their order
//   time    MAX_KEYS keys come to life in order of their numbers; then all calls 1 + SAMPLES times over, each allowed:
//           nanoseconds a call, for each time over but the first, and the same for a loop that calls no limiter

#include "limiter.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

typedef struct {
  const uint32_t *keys;
  size_t count;
  double step_ms;
  double ms;  // the clock
} Calls;

static void fail(const char *why) {
  fprintf(stderr, "floor: %s\n", why);
  exit(1);
}

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static size_t call_all(Limiter *limiter, Calls *calls) {
  size_t allowed = 0;
  for (size_t i = 0; i < calls->count; i++) {
    calls->ms += calls->step_ms;
    if (is_allowed(limiter, calls->keys[i], calls->ms, 1)) allowed++;
  }
  return allowed;
}

/** What a call costs before a limiter has done anything. */
static size_t call_none(Limiter *limiter, Calls *calls) {
  (void)limiter;
  size_t allowed = 0;
  for (size_t i = 0; i < calls->count; i++) {
    calls->ms += calls->step_ms;
    if (calls->keys[i] != UINT32_MAX && calls->ms > 0) allowed++;
  }
  return allowed;
}

static void time_samples(size_t (*call)(Limiter *, Calls *), Limiter *limiter, Calls *calls, int samples) {
  printf("[");
  for (int i = 0; i <= samples; i++) {
    const double begun = seconds();
    if (call(limiter, calls) != calls->count) fail("a timed call was denied");
    const double ns = (seconds() - begun) * 1e9 / (double)calls->count;
    if (i > 0) printf("%s%.2f", i == 1 ? "" : ", ", ns);
  }
  printf("]");
}

static void time_calls(Limiter *limiter, Calls *calls, uint32_t keys, int samples) {
  for (uint32_t key = 0; key < keys; key++) {
    calls->ms += calls->step_ms;
    is_allowed(limiter, key, calls->ms, 1);
  }
  printf("{\"base\": ");
  time_samples(call_none, limiter, calls, samples);
  printf(", \"limiter\": ");
  time_samples(call_all, limiter, calls, samples);
  printf("}\n");
}

static void check_calls(Limiter *limiter, Calls *calls) {
  uint32_t digest = 0;
  for (size_t i = 0; i < calls->count; i++) {
    calls->ms += calls->step_ms;
    digest = digest * 31 + is_allowed(limiter, calls->keys[i], calls->ms, 1);
  }
  printf("{\"allowed\": %" PRIu64 ", \"denied\": %" PRIu64, limiter->allowed, limiter->denied);
  printf(", \"digest\": %" PRIu32, digest);
  printf(", \"evictedIdle\": %" PRIu64 ", \"overflowed\": %" PRIu64, limiter->evicted_idle, limiter->overflowed);
  printf(", \"liveKeys\": %" PRIu64 "}\n", count_live(limiter));
}

int main(int argc, char **argv) {
  if (argc != 11) fail("wrong number of arguments; main.c lists them");
  const uint32_t max_keys = (uint32_t)strtoul(argv[2], NULL, 10);
  const size_t count = strtoul(argv[3], NULL, 10);
  const double step_ms = strtod(argv[7], NULL);
  Limiter limiter = {
      .hash_key = {strtoull(argv[9], NULL, 10), strtoull(argv[10], NULL, 10)},
      .rate = strtoull(argv[5], NULL, 10),
      .token = strtoull(argv[6], NULL, 10),
      .epoch = llrint(step_ms * 1000),
  };
  limiter.full = strtoull(argv[4], NULL, 10) * limiter.token;

  uint32_t *keys = malloc(count * sizeof(uint32_t));
  if (keys == NULL || !make_table(&limiter, max_keys)) fail("no memory");
  if (fread(keys, sizeof(uint32_t), count, stdin) != count) fail("fewer keys than calls on standard input");
  Calls calls = {.keys = keys, .count = count, .step_ms = step_ms, .ms = step_ms};

  if (strcmp(argv[1], "check") == 0) check_calls(&limiter, &calls);
  else time_calls(&limiter, &calls, max_keys, atoi(argv[8]));
  return 0;
}
