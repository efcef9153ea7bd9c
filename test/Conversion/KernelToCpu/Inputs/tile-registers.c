/* Tile registers where there are none: an x86-64 without AMX stops at each of their instructions with SIGILL,
 * and the handler does what it says. Linked into a library, whose code runs as it was compiled.
 *
 * CPUID, XGETBV and the system call by which code asks for permission are replaced in its assembly
 * by ud2 and a byte (tile-registers.py), which are answered here: this CPU's answer, and tiles.
 *
 * Meaning of the instructions: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <immintrin.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* What the system says about permission for this process, and how often tiles were multiplied. */
int64_t emulated_permission = 1 << 18;
int64_t emulated_products = 0;

typedef struct {
  uint8_t palette, start;
  uint8_t reserved[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} Shapes;

static Shapes shapes;
static union Tile {
  uint8_t bytes[16][64];
  uint32_t words[16][16];
  float floats[16][16];
} tiles[8];

/* Of the registers as instructions number them. */
static const int numbered[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                 REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static float widen(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static void loadShapes(const uint8_t *from) {
  memcpy(&shapes, from, 64);
  if (shapes.palette != 1 || shapes.start)
    abort();
  for (int i = 0; i < 14; ++i)
    if (shapes.reserved[i])
      abort();
  for (int t = 0; t < 16; ++t) /* a register has rows and bytes, or neither; there are 8 */
    if (shapes.rows[t] > 16 || shapes.bytes[t] > 64 || !shapes.rows[t] != !shapes.bytes[t] ||
        (t >= 8 && shapes.rows[t]))
      abort();
  memset(tiles, 0, sizeof tiles);
}

static void move(int t, uint8_t *base, int64_t stride, int store) {
  if (shapes.palette != 1 || !shapes.rows[t])
    abort();
  union Tile fresh;
  memset(&fresh, 0, sizeof fresh);
  for (int r = 0; r < shapes.rows[t]; ++r)
    if (store)
      memcpy(base + r * stride, tiles[t].bytes[r], shapes.bytes[t]);
    else
      memcpy(fresh.bytes[r], base + r * stride, shapes.bytes[t]);
  if (!store)
    tiles[t] = fresh;
}

static int32_t byteOf(uint32_t word, int i, int isSigned) {
  uint8_t byte = (uint8_t)(word >> (8 * i));
  return isSigned ? (int8_t)byte : byte;
}

/* c += a * b: pairs of bf16, or groups of four bytes of the signs given. */
static void multiply(int c, int a, int b, int isBF16, int aSigned, int bSigned) {
  int rows = shapes.rows[c], words = shapes.bytes[c] / 4, steps = shapes.bytes[a] / 4;
  if (shapes.palette != 1 || !rows || shapes.rows[a] != rows || shapes.bytes[b] != shapes.bytes[c] ||
      shapes.rows[b] != steps || c == a || c == b || a == b)
    abort();
  ++emulated_products;
  unsigned mode = _mm_getcsr();
  _mm_setcsr(0x9fc0); /* subnormals are 0, to nearest, no traps */
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < words; ++n) {
      volatile float even = 0, odd = 0;
      for (int k = 0; k < steps; ++k) {
        uint32_t x = tiles[a].words[m][k], y = tiles[b].words[k][n];
        if (isBF16) {
          even = fmaf(widen((uint16_t)x), widen((uint16_t)y), even);
          odd = fmaf(widen((uint16_t)(x >> 16)), widen((uint16_t)(y >> 16)), odd);
          continue;
        }
        for (int i = 0; i < 4; ++i)
          tiles[c].words[m][n] += (uint32_t)(byteOf(x, i, aSigned) * byteOf(y, i, bSigned));
      }
      if (isBF16)
        tiles[c].floats[m][n] += even + odd;
    }
  _mm_setcsr(mode);
}

static void answer(greg_t *at, int question) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (question == 1) {
    unsigned leaf = (unsigned)at[REG_RAX], sub = (unsigned)at[REG_RCX];
    __cpuid_count(leaf, sub, a, b, c, d);
    if (leaf == 7 && sub == 0)
      d |= 1u << 22 | 1u << 24 | 1u << 25;
    at[REG_RAX] = a, at[REG_RBX] = b, at[REG_RCX] = c, at[REG_RDX] = d;
  } else if (question == 2) {
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    at[REG_RAX] = a | 0x60000, at[REG_RDX] = d;
  } else {
    if (at[REG_RAX] != 158 || at[REG_RDI] != 0x1022)
      abort();
    memcpy((void *)at[REG_RSI], &emulated_permission, 8);
    at[REG_RAX] = 0;
  }
}

static void trap(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  greg_t *at = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)at[REG_RIP];
  if (code[0] == 0x0f && code[1] == 0x0b) {
    answer(at, code[2]);
    at[REG_RIP] += 3;
    return;
  }
  /* VEX.128.W0 of map 0F38: c4 RXBmmmmm WvvvvLpp opcode ModRM [SIB] [displacement] */
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84))
    abort();
  int prefix = code[2] & 3, vvvv = ~(code[2] >> 3) & 15, opcode = code[3];
  int mod = code[4] >> 6, reg = code[4] >> 3 & 7, rm = code[4] & 7, length = 5;
  uint8_t *base = 0;
  int64_t stride = 0;
  if (mod != 3) {
    int number = rm;
    if (rm == 4) {
      int sib = code[length++], index = (sib >> 3 & 7) | (code[1] & 0x40 ? 0 : 8);
      number = sib & 7;
      stride = index == 4 ? 0 : (int64_t)at[numbered[index]] << (sib >> 6);
    }
    int64_t displacement = 0;
    int absolute = mod == 0 && number == 5;
    if (mod == 1)
      displacement = (int8_t)code[length], length += 1;
    if (mod == 2 || absolute) {
      int32_t wide;
      memcpy(&wide, code + length, 4);
      displacement = wide, length += 4;
    }
    number |= code[1] & 0x20 ? 0 : 8;
    base = (uint8_t *)displacement;
    if (!absolute)
      base += at[numbered[number]];
    else if (rm == 5)
      base += at[REG_RIP] + length;
  }
  switch (opcode << 4 | prefix) {
  case 0x490: /* ldtilecfg, tilerelease */
    if (mod == 3)
      memset(&shapes, 0, sizeof shapes);
    else
      loadShapes(base);
    break;
  case 0x493: /* tilezero */
    memset(&tiles[reg], 0, sizeof tiles[reg]);
    break;
  case 0x4b3: /* tileloadd; a hint more: tileloaddt1 */
  case 0x4b1:
    move(reg, base, stride, 0);
    break;
  case 0x4b2:
    move(reg, base, stride, 1);
    break;
  case 0x5c2:
    multiply(reg, rm, vvvv, 1, 0, 0);
    break;
  case 0x5e3:
    multiply(reg, rm, vvvv, 0, 1, 1);
    break;
  case 0x5e2:
    multiply(reg, rm, vvvv, 0, 1, 0);
    break;
  case 0x5e1:
    multiply(reg, rm, vvvv, 0, 0, 1);
    break;
  case 0x5e0:
    multiply(reg, rm, vvvv, 0, 0, 0);
    break;
  default:
    abort();
  }
  at[REG_RIP] += length;
}

__attribute__((constructor)) static void install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, 0);
}
