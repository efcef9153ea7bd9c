#include "gemm.h"
int64_t levels(void) { return gemm_info()->level_count; }
