/* Linked into every executable of a sanitizer build.
 *
 * LLVM's allocators, inlined into our code, mark freed memory for
 * AddressSanitizer; libLLVM itself is built without it and uses that memory again
 * without taking the mark away. So such marks are not looked at. */

const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allow_user_poisoning=0"; }
