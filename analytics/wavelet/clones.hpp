// Compiles a function for several vector widths and picks one at load time; the results are the same bits, since
// nothing is contracted or reordered.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define EFFORT_SANITIZED
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define EFFORT_SANITIZED
#endif

// The sanitizers' run-time is not up yet when the loader resolves such functions.
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(EFFORT_SANITIZED)
#define EFFORT_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f"), optimize("O3")))
#else
#define EFFORT_VECTOR_CLONES
#endif
