// A token bucket limiter in C: what assembly/ does for a whole number as key, with the same hash, the same table and
// the same arithmetic, so that both give the same answers to the same calls. It reports no errors and minds no threads:
// the least that a call can cost. The reasons for each rule stand in assembly/, in the files named below.

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SET_SLOTS = 8, FIRST_SET_FILL = 4, MIN_SETS = 2, MIN_CELLS = 1024, KEYS_PER_CELL = 16 };

/** All zero: never used. */
typedef struct {
  uint64_t tag;    // keyed hash of the key, never 0
  uint64_t state;  // when the bucket will be full, above the number of keys that the slot has had, modulo 3
} Slot;

typedef struct {
  Slot slots[SET_SLOTS];
} Set;

typedef struct {
  uint64_t hash_key[2];
  uint64_t rate;      // tokens per `token` microseconds
  uint64_t token;     // units a token: time flows `rate` units a microsecond
  uint64_t full;      // units a full bucket
  int64_t epoch;      // the clock's microsecond that is 0 here
  uint64_t latest;    // greatest time seen, in microseconds
  uint32_t set_count, cell_count;
  Set *sets;
  uint64_t *cells;    // states of keys that found no slot
  uint64_t allowed, denied, evicted_idle, overflowed;
} Limiter;

// ---- assembly/front/siphash.ts, assembly/front/key.ts: from a key to its tag ----

static inline uint64_t rotl(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static inline void sip_round(uint64_t v[4]) {
  v[0] += v[1];
  v[2] += v[3];
  v[1] = rotl(v[1], 13) ^ v[0];
  v[3] = rotl(v[3], 16) ^ v[2];
  v[0] = rotl(v[0], 32);
  v[2] += v[1];
  v[0] += v[3];
  v[1] = rotl(v[1], 17) ^ v[2];
  v[3] = rotl(v[3], 21) ^ v[0];
  v[2] = rotl(v[2], 32);
}

/** SipHash-1-3 of a number's 7 bytes, which with their length are the message's only block. */
static inline uint64_t tag_of(const Limiter *limiter, uint64_t number) {
  const uint64_t block = UINT64_C(7) << 56 | number;
  uint64_t v[4] = {
      limiter->hash_key[0] ^ 0x736f6d6570736575,
      limiter->hash_key[1] ^ 0x646f72616e646f6d,
      limiter->hash_key[0] ^ 0x6c7967656e657261,
      limiter->hash_key[1] ^ 0x7465646279746573,
  };
  v[3] ^= block;
  sip_round(v);
  v[0] ^= block;
  v[2] ^= 0xff;
  sip_round(v);
  sip_round(v);
  sip_round(v);
  const uint64_t tag = v[0] ^ v[1] ^ v[2] ^ v[3];
  return tag != 0 ? tag : 1;
}

// ---- assembly/token-bucket.ts: the state, 62 bits of time above 2 of the slot's keys ----

static inline uint64_t level(const Limiter *limiter, uint64_t state, uint64_t phase) {
  const uint64_t debt = ((state >> 2) - phase) & (UINT64_MAX >> 2);
  return debt <= limiter->full ? debt : 0;
}

/** `state` for a slot that changes hands: one more key than the state it replaces. */
static inline uint64_t handed_over(uint64_t state, uint64_t replaced) {
  const uint64_t keys = replaced & 3;
  return (state & ~UINT64_C(3)) | (keys >= 2 ? 0 : keys + 1);
}

// ---- assembly/layout.ts, assembly/table/slots.ts: where a tag may live ----

/** One of `count`, by the lower 32 bits. */
static inline uint32_t pick(uint64_t bits, uint32_t count) {
  return (uint32_t)((bits & UINT32_MAX) * count >> 32);
}

static inline uint32_t first_set(const Limiter *limiter, uint64_t tag) {
  return pick(tag >> 32, limiter->set_count);
}

static inline uint32_t second_set(const Limiter *limiter, uint64_t tag, uint32_t first) {
  const uint32_t set = pick(tag, limiter->set_count);
  if (set != first) return set;
  return set != 0 ? set - 1 : set + 1;
}

/** Looks at all slots: which one it is cannot be predicted. */
static inline Slot *find_in(Set *set, uint64_t tag) {
  Slot *found = NULL;
  for (int i = 0; i < SET_SLOTS; i++) {
    if (set->slots[i].tag == tag) found = &set->slots[i];
  }
  return found;
}

static inline Slot *find(const Limiter *limiter, uint64_t tag) {
  const uint32_t first = first_set(limiter, tag);
  Slot *slot = find_in(&limiter->sets[first], tag);
  return slot != NULL ? slot : find_in(&limiter->sets[second_set(limiter, tag, first)], tag);
}

/** Counts a set's live slots and returns its first free one, or NULL. */
static Slot *survey(const Limiter *limiter, Set *set, uint64_t phase, int *live) {
  Slot *free_slot = NULL;
  *live = 0;
  for (int i = 0; i < SET_SLOTS; i++) {
    Slot *slot = &set->slots[i];
    const bool is_free = level(limiter, slot->state, phase) == 0 || (slot->state == 0 && slot->tag == 0);
    if (!is_free) ++*live;
    else if (free_slot == NULL) free_slot = slot;
  }
  return free_slot;
}

/** The first set until it holds 4 live keys, then the emptier one. NULL where both are full. */
static Slot *place(const Limiter *limiter, uint64_t tag, uint64_t phase) {
  int first_live, second_live;
  const uint32_t first = first_set(limiter, tag);
  Slot *in_first = survey(limiter, &limiter->sets[first], phase, &first_live);
  if (first_live < FIRST_SET_FILL) return in_first;
  Slot *in_second = survey(limiter, &limiter->sets[second_set(limiter, tag, first)], phase, &second_live);
  return second_live < first_live ? in_second : in_first;
}

// ---- assembly/table/private.ts: one call ----

static bool acquire_absent(Limiter *limiter, uint64_t tag, uint64_t phase, uint64_t charge) {
  uint64_t *cell = &limiter->cells[pick(tag >> 16, limiter->cell_count)];
  const uint64_t before = *cell == 0 ? 0 : level(limiter, *cell, phase);
  Slot *slot = place(limiter, tag, phase);
  if (slot == NULL) limiter->overflowed++;
  if (charge > limiter->full - before) return false;
  const uint64_t charged = (phase + before + charge) << 2;
  if (slot == NULL) {
    *cell = handed_over(charged, 0);
    return true;
  }
  if (slot->tag != 0) limiter->evicted_idle++;
  slot->state = handed_over(charged, slot->state);
  slot->tag = tag;
  return true;
}

static inline bool acquire(Limiter *limiter, uint64_t tag, uint64_t now, uint64_t cost) {
  const uint64_t phase = now * limiter->rate;
  const uint64_t charge = cost * limiter->token;
  Slot *slot = find(limiter, tag);
  if (slot == NULL) return acquire_absent(limiter, tag, phase, charge);
  const uint64_t before = level(limiter, slot->state, phase);
  if (charge > limiter->full - before) return false;
  slot->state = (phase + before + charge) << 2 | (slot->state & 3);
  return true;
}

/** Takes `cost` permits, 1 to the capacity, from a key below 2^53, or none. `ms` is the clock's reading. */
static inline bool is_allowed(Limiter *limiter, uint64_t key, double ms, uint64_t cost) {
  const int64_t now = llrint(ms * 1000) - limiter->epoch;
  if (now > (int64_t)limiter->latest) limiter->latest = (uint64_t)now;
  const bool allowed = acquire(limiter, tag_of(limiter, key), limiter->latest, cost);
  if (allowed) limiter->allowed++;
  else limiter->denied++;
  return allowed;
}

/** How many keys are not as new. */
static uint64_t count_live(const Limiter *limiter) {
  uint64_t live = 0;
  for (uint32_t i = 0; i < limiter->set_count; i++) {
    for (int j = 0; j < SET_SLOTS; j++) {
      const Slot *slot = &limiter->sets[i].slots[j];
      if (slot->tag != 0 && level(limiter, slot->state, limiter->latest * limiter->rate) != 0) live++;
    }
  }
  return live;
}

/** Gives the limiter, whose other numbers are set, a table for so many live keys. False: there is no memory for it. */
static bool make_table(Limiter *limiter, uint64_t max_keys) {
  const uint64_t sets = (max_keys * 23 + sizeof(Set) - 1) / sizeof(Set);  // 1.4375 slots a key
  const uint64_t cells = max_keys / KEYS_PER_CELL;
  limiter->set_count = (uint32_t)(sets < MIN_SETS ? MIN_SETS : sets);
  limiter->cell_count = (uint32_t)(cells < MIN_CELLS ? MIN_CELLS : cells);
  limiter->sets = aligned_alloc(sizeof(Set), limiter->set_count * sizeof(Set));
  limiter->cells = calloc(limiter->cell_count, sizeof(uint64_t));
  if (limiter->sets == NULL || limiter->cells == NULL) return false;
  memset(limiter->sets, 0, limiter->set_count * sizeof(Set));
  return true;
}
