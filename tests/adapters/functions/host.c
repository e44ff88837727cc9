// Programs whose calls are recorded: each mode ends in another way.  The test knows their calls.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define CALL __attribute__((noinline))

static volatile int sink;

CALL void leaf(void) { ++sink; }
CALL void other(void) { --sink; }

CALL void repeat(int n) {
  for (int i = 0; i < n; ++i) leaf();
}

CALL void die_by_kill(void) { kill(getpid(), SIGKILL); }
CALL void die_by_crash(void) {
  volatile int* const nowhere = NULL;
  *nowhere = 1;
}
CALL void die_by_exit(void) { exit(3); }
CALL void hang(void) {
  puts("hangs");
  fflush(stdout);
  for (;;) pause();
}

CALL void outer(const char* how) {
  repeat(1000);
  sink = 0;
  if (!strcmp(how, "kill")) die_by_kill();
  if (!strcmp(how, "crash")) die_by_crash();
  if (!strcmp(how, "exit")) die_by_exit();
  if (!strcmp(how, "hang")) hang();
}

static jmp_buf back;
CALL void jump(int depth) {
  if (depth == 0) longjmp(back, 1);
  jump(depth - 1);
  ++sink;
}
CALL void jumps(void) {
  for (volatile int i = 0; i < 1000; ++i) {
    if (setjmp(back) == 0) jump(5);
    leaf();
  }
}

CALL void end_thread(void) { pthread_exit(NULL); }
CALL void* in_thread(void* n) {
  repeat((int)(long)n);
  end_thread();
  return NULL;
}
CALL void threads(void) {
  pthread_t all[4];
  for (long i = 0; i < 4; ++i) pthread_create(&all[i], NULL, in_thread, (void*)(100 * (i + 1)));
  for (int i = 0; i < 4; ++i) pthread_join(all[i], NULL);
}

CALL void in_child(void) { repeat(10); }
CALL void forks(void) {
  repeat(20);
  const pid_t child = fork();
  if (child == 0) {
    in_child();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  other();
  printf("%d\n", (int)child);
}

static volatile int handled;
CALL void in_handler(void) { ++handled; }
CALL void handler(int number) {
  (void)number;
  in_handler();
}
CALL void signals(void) {
  static char memory[1 << 16];
  const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 200; ++i) repeat(20000);
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%d\n", handled);
}

static volatile int in_forked, forked, failed;
QUIET static void fork_handler(int number) {
  (void)number;
  if (in_forked || forked == 60) return;
  ++forked;
  const pid_t child = fork();
  if (child == 0) {
    in_forked = 1;
    return;
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) ++failed;
}
/* Most of the time is spent in hooks, so that is where most children begin. */
CALL void forks_in_handlers(void) {
  struct sigaction action = {.sa_handler = fork_handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (forked < 60 || in_forked) {
    repeat(2000);
    if (in_forked) {
      other();
      _exit(0);
    }
  }
  printf("%d\n", failed);
}

CALL int recurse(int n) { return n == 0 ? 0 : 1 + recurse(n - 1); }

CALL void early(void) { ++sink; }
__attribute__((constructor)) CALL void before_main(void) { early(); }
CALL void after_exit(void) { ++sink; }

CALL void unpredictable(int n) {
  unsigned state = 1;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    if (state >> 31)
      leaf();
    else
      other();
  }
}

CALL void load(const char* path) {
  for (int i = 0; i < 3; ++i) {
    void* const module = dlopen(path, RTLD_NOW);
    if (!module) {
      puts(dlerror());
      exit(9);
    }
    void (*function)(void);
    *(void**)&function = dlsym(module, "in_module");
    function();
    dlclose(module);
  }
}

QUIET static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}
CALL void spin(void) {
  for (const long long end = now_ns() + 10000000; now_ns() < end;) ++sink;
}
CALL void spins(void) {
  for (int i = 0; i < 3; ++i) {
    spin();
    repeat(1000);
  }
}
/* Prints how long the calls took. */
CALL void timed(void) {
  const long long begin = now_ns();
  spins();
  printf("%lld\n", now_ns() - begin);
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  atexit(after_exit);
  if (!strcmp(mode, "jumps"))
    jumps();
  else if (!strcmp(mode, "threads"))
    threads();
  else if (!strcmp(mode, "fork"))
    forks();
  else if (!strcmp(mode, "forks_in_handlers"))
    forks_in_handlers();
  else if (!strcmp(mode, "signals"))
    signals();
  else if (!strcmp(mode, "recursion"))
    printf("%d\n", recurse(100000));
  else if (!strcmp(mode, "hot"))
    repeat(50000000);
  else if (!strcmp(mode, "closed")) {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    unpredictable(100000);
  } else if (!strcmp(mode, "limited")) {
    const struct rlimit small = {65536, 65536};
    setrlimit(RLIMIT_FSIZE, &small);
    unpredictable(200000);
  } else if (!strcmp(mode, "timed"))
    timed();
  else if (!strcmp(mode, "load"))
    load(argv[2]);
  else
    outer(mode);
  return 0;
}
