// Cuts objects from a JSON array and finds two of their members, with one look at each byte. It does
// not check the grammar.
#ifndef SLICER_H
#define SLICER_H

#include <stdint.h>
#include <string.h>

struct slicer {
  const char *next, *end;
};

struct slice {
  const char *payload, *id;
  int length, length_of_id;
  int64_t modified_at;
};

/// The place after a string that begins at its quote.
static const char *slicer_string(const char *text, const char *end) {
  for (text++; text < end && *text != '"'; text++)
    if (*text == '\\') text++;
  return text + 1;
}

/// The place after a value.
static const char *slicer_value(const char *text, const char *end) {
  int depth = 0;
  while (text < end) {
    switch (*text) {
      case '"':
        text = slicer_string(text, end);
        if (!depth) return text;
        continue;
      case '{': case '[': depth++; break;
      case '}': case ']':
        if (!depth) return text;
        if (!--depth) return text + 1;
        break;
      case ',':
        if (!depth) return text;
    }
    text++;
  }
  return text;
}

/// The next object: 1, or 0 at the array's end, or -1 for anything else.
static int slicer_next(struct slicer *slicer, struct slice *slice) {
  const char *text = slicer->next, *end = slicer->end;
  while (text < end && (*text == '[' || *text == ',' || *text == ' ' || *text == '\n')) text++;
  if (text < end && *text == ']') return 0;
  if (text >= end || *text != '{') return -1;
  slice->payload = text++;
  slice->id = 0;
  slice->modified_at = 0;
  while (text < end && *text != '}') {
    while (text < end && *text != '"') text++;
    const char *key = text + 1;
    text = slicer_string(text, end);
    int length = (int)(text - 1 - key);
    while (text < end && *text != ':') text++;
    const char *value = ++text;
    text = slicer_value(text, end);
    if (length == 2 && !memcmp(key, "id", 2)) {
      slice->id = value + 1;
      slice->length_of_id = (int)(text - value) - 2;
    } else if (length == 10 && !memcmp(key, "updated_at", 10)) {
      for (const char *digit = value; digit < text; digit++) slice->modified_at = slice->modified_at * 10 + (*digit - '0');
    }
    if (text < end && *text == ',') text++;
  }
  slicer->next = text + 1;
  slice->length = (int)(slicer->next - slice->payload);
  return slice->id ? 1 : -1;
}

#endif
