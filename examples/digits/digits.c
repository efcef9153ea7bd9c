/*===- digits.c - a C program that calls a compiled kernel ------------------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Links the object that `facet compile digits.facet` made, loads the images and
 * the trained weights, classifies all images in one call and counts how many
 * digits are right. The kernel is a plain C function declared in digits.h.
 *
 *   digits FOLDER    FOLDER holds the .npy files
 *===----------------------------------------------------------------------===*/

#define _POSIX_C_SOURCE 199309L
#include "digits.h"
#include <facet/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { Images = 1797, HeldOut = 360, Pixels = 64, Hidden = 64, Classes = 10 };

/* The data of FOLDER/NAME.npy, which must have this element type and shape: all
 * files here are version 1.0, in C order. Ends the program with a message
 * otherwise. */
static void *load(const char *folder, const char *name, const char *descr,
                  const char *shape, size_t bytes) {
  char path[4096], header[256], field[64];
  snprintf(path, sizeof path, "%s/%s.npy", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  unsigned char start[10];
  size_t length = 0;
  if (fread(start, 1, 10, file) == 10 && !memcmp(start, "\x93NUMPY\1", 7))
    length = start[8] + 256u * start[9];
  if (length == 0 || length >= sizeof header ||
      fread(header, 1, length, file) != length) {
    fprintf(stderr, "%s: not a .npy file of version 1.0\n", path);
    exit(1);
  }
  header[length] = 0;
  snprintf(field, sizeof field, "'shape': %s,", shape);
  if (!strstr(header, descr) || !strstr(header, field) ||
      strstr(header, "'fortran_order': True")) {
    fprintf(stderr, "%s: want %s and %s in %s", path, descr, field, header);
    exit(1);
  }
  void *data = malloc(bytes);
  if (!data || fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) {
    fprintf(stderr, "%s: want %zu bytes of data\n", path, bytes);
    exit(1);
  }
  fclose(file);
  return data;
}

static int compareDoubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double percentRight(const int32_t *digit, const uint8_t *label,
                           int first, int count) {
  int right = 0;
  for (int i = first; i < first + count; ++i)
    right += digit[i] == label[i];
  return 100.0 * right / count;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: digits FOLDER\n");
    return 2;
  }
  const char *folder = argv[1];
  uint8_t *image =
      load(folder, "images", "u1'", "(1797, 64)", (size_t)Images * Pixels);
  uint8_t *label = load(folder, "labels", "u1'", "(1797,)", Images);
  facet_bf16 *w1 = load(folder, "w1", "V2'", "(64, 64)", Pixels * Hidden * 2);
  float *b1 = load(folder, "b1", "<f4'", "(64,)", Hidden * 4);
  facet_bf16 *w2 = load(folder, "w2", "V2'", "(64, 10)", Hidden * Classes * 2);
  float *b2 = load(folder, "b2", "<f4'", "(10,)", Classes * 4);
  float *logits = malloc(sizeof(float) * Images * Classes);
  int32_t *digit = malloc(sizeof(int32_t) * Images);
  if (!logits || !digit)
    return 1;

  enum { Runs = 21 };
  double seconds[Runs];
  for (int run = 0; run < Runs; ++run) {
    double start = now();
    int code =
        digits(Images, Pixels, Hidden, Classes, image, Pixels, w1, Hidden, b1,
               w2, Classes, b2, logits, Classes, digit, facet_default_exec());
    seconds[run] = now() - start;
    if (code) {
      char text[256];
      facet_describe_error(facet_last_error(), text, sizeof text);
      fprintf(stderr, "digits: %s\n", text);
      return 1;
    }
  }
  qsort(seconds, Runs, sizeof seconds[0], compareDoubles);

  /* The network never saw the last 360 images; train.py says more. */
  const int trained = Images - HeldOut;
  printf("accuracy  %5.1f %% of the %d images held out from training\n",
         percentRight(digit, label, trained, HeldOut), HeldOut);
  printf("          %5.1f %% of the %d images trained on\n",
         percentRight(digit, label, 0, trained), trained);
  printf("time      %.3f ms for all %d images in one call (median of %d)\n",
         1e3 * seconds[Runs / 2], Images, Runs);

  free(image), free(label), free(w1), free(b1), free(w2), free(b2);
  free(logits), free(digit);
  facet_release_workspace();
  return 0;
}
