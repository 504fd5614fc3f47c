// The 64-bit xxHash with seed zero, of bytes that come in portions.
#ifndef XXH64_H
#define XXH64_H

#include <stdint.h>
#include <string.h>

struct xxh64 {
  uint64_t lanes[4], length;
  unsigned char pending[32];
};

static const uint64_t xxh64_prime1 = 0x9e3779b185ebca87u, xxh64_prime2 = 0xc2b2ae3d27d4eb4fu,
                      xxh64_prime3 = 0x165667b19e3779f9u, xxh64_prime4 = 0x85ebca77c2b2ae63u,
                      xxh64_prime5 = 0x27d4eb2f165667c5u;

static uint64_t xxh64_rotate(uint64_t value, int count) { return value << count | value >> (64 - count); }

static uint64_t xxh64_word(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, 8);
  return word;
}

static uint64_t xxh64_round(uint64_t lane, uint64_t word) {
  return xxh64_rotate(lane + word * xxh64_prime2, 31) * xxh64_prime1;
}

static void xxh64_begin(struct xxh64 *hash) {
  *hash = (struct xxh64){.lanes = {xxh64_prime1 + xxh64_prime2, xxh64_prime2, 0, 0 - xxh64_prime1}};
}

static const unsigned char *xxh64_stripes(struct xxh64 *hash, const unsigned char *bytes, const unsigned char *end) {
  uint64_t a = hash->lanes[0], b = hash->lanes[1], c = hash->lanes[2], d = hash->lanes[3];
  for (; end - bytes >= 32; bytes += 32) {
    a = xxh64_round(a, xxh64_word(bytes));
    b = xxh64_round(b, xxh64_word(bytes + 8));
    c = xxh64_round(c, xxh64_word(bytes + 16));
    d = xxh64_round(d, xxh64_word(bytes + 24));
  }
  hash->lanes[0] = a, hash->lanes[1] = b, hash->lanes[2] = c, hash->lanes[3] = d;
  return bytes;
}

static void xxh64_add(struct xxh64 *hash, const void *added, size_t count) {
  const unsigned char *bytes = added, *end = bytes + count;
  size_t waiting = hash->length % 32;
  hash->length += count;
  if (waiting) {
    size_t fill = count < 32 - waiting ? count : 32 - waiting;
    memcpy(hash->pending + waiting, bytes, fill);
    bytes += fill;
    if (waiting + fill < 32) return;
    xxh64_stripes(hash, hash->pending, hash->pending + 32);
  }
  bytes = xxh64_stripes(hash, bytes, end);
  memcpy(hash->pending, bytes, end - bytes);
}

static uint64_t xxh64_value(const struct xxh64 *hash) {
  uint64_t value = xxh64_prime5;
  if (hash->length >= 32) {
    const uint64_t *lanes = hash->lanes;
    value = xxh64_rotate(lanes[0], 1) + xxh64_rotate(lanes[1], 7) + xxh64_rotate(lanes[2], 12) +
            xxh64_rotate(lanes[3], 18);
    for (int i = 0; i < 4; i++) value = (value ^ xxh64_round(0, lanes[i])) * xxh64_prime1 + xxh64_prime4;
  }
  value += hash->length;
  const unsigned char *bytes = hash->pending, *end = bytes + hash->length % 32;
  for (; end - bytes >= 8; bytes += 8)
    value = xxh64_rotate(value ^ xxh64_round(0, xxh64_word(bytes)), 27) * xxh64_prime1 + xxh64_prime4;
  if (end - bytes >= 4) {
    uint32_t half;
    memcpy(&half, bytes, 4);
    value = xxh64_rotate(value ^ half * xxh64_prime1, 23) * xxh64_prime2 + xxh64_prime3;
    bytes += 4;
  }
  for (; bytes < end; bytes++) value = xxh64_rotate(value ^ *bytes * xxh64_prime5, 11) * xxh64_prime1;
  value = (value ^ value >> 33) * xxh64_prime2;
  value = (value ^ value >> 29) * xxh64_prime3;
  return value ^ value >> 32;
}

#endif
