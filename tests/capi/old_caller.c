/* A program that was compiled with the header of 0.1, of which it has its own copy.  It keeps working with newer
 * libraries.  Never update it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct effort_hint {
  size_t struct_size;
  int64_t step, window_first, window_last;
  int32_t rank, n_ranks;
  const double *load, *predicted;
  int32_t n_regions;
  const char* const* region_name;
  const double *region_load, *stratum_region_load;
  const int32_t* stratum;
  int32_t n_strata;
  const int32_t* medoid_rank;
  double imbalance, gain_per_step, rebalance_cost;
  int32_t rebalance;
  uint32_t advice;
  int32_t n_units;
  const char* const* unit_name;
  const double *unit_cost, *unit_cost_error;
  int32_t worst_region;
  double worst_region_share, load_balance, prediction_error;
  double parallel_efficiency, communication_efficiency, transfer_efficiency, ideal_saving, expected_saving;
  const double* speed;
} effort_hint;
typedef struct effort_config effort_config;
typedef int (*effort_rebalance_fn)(const effort_hint*, void*);

int effort_config_new(effort_config**);
int effort_config_set(effort_config*, const char*, const char*);
int effort_config_free(effort_config*);
int effort_init(const effort_config*);
int effort_finalize(void);
int effort_version(void);
int effort_region(const char*, int, int32_t*);
int effort_begin(int32_t);
int effort_end(int32_t);
int effort_begin_named(const char*, volatile int32_t*);
int effort_end_named(const char*, volatile int32_t*);
int effort_add(int32_t, double);
int effort_work_unit(const char*, int32_t*);
int effort_work(int32_t, double);
int effort_metric_define(const char*, const char*, int32_t*);
int effort_metric(int32_t, double);
int effort_phase(const char*);
int effort_progress_step(void);
int effort_on_rebalance(effort_rebalance_fn, void*);
int effort_rebalance_begin(void);
int effort_rebalance_end(void);
int effort_hint_latest(effort_hint*);
int effort_hint_copy(effort_hint*, size_t);
const char* effort_last_error(void);
const char* effort_status_string(int);

/* The members that effort_begin_inline of 0.1 reads. */
struct slot {
  uint32_t layout, limit, current, depth;
  uint64_t stamp;
  struct {
    uint64_t ticks;
    int64_t begins;
  } * cells;
};
extern __thread void* effort_this_thread_slot __attribute__((tls_model("initial-exec")));

static int failed, calls;
#define EXPECT(condition) \
  ((condition) ? 1 : (++failed, fprintf(stderr, "line %d: %s; %s\n", __LINE__, #condition, effort_last_error()), 0))

static void as_expected(const effort_hint* h) {
  EXPECT(h->struct_size >= sizeof *h);
  EXPECT(h->rank == 0 && h->n_ranks == 1 && h->n_strata == 1 && h->stratum[0] == 0 && h->medoid_rank[0] == 0);
  EXPECT(h->load[0] > 1.99 && h->load[0] < 2.01 && h->predicted[0] > 1.99 && h->predicted[0] < 2.01);
  EXPECT(h->window_last - h->window_first == 9 && h->imbalance == 0 && h->load_balance == 1 && h->rebalance == 0);
  EXPECT(h->worst_region < h->n_regions && h->transfer_efficiency < 0 && h->speed[0] > 0);
  for (int32_t r = 0; r < h->n_regions; ++r) EXPECT(strlen(h->region_name[r]) > 0 && h->region_load[r] >= 0);
}

static int called(const effort_hint* h, void* user) {
  ++*(int*)user;
  as_expected(h);
  return 0;
}

/* The whole struct, and every shorter one of a header still older: nothing is written beyond what the caller has. */
static void copies(void) {
  unsigned char room[sizeof(effort_hint) + 64];
  effort_hint whole;
  EXPECT(effort_hint_copy(&whole, sizeof whole) == 0);
  as_expected(&whole);
  for (size_t bytes = sizeof(size_t); bytes <= sizeof(effort_hint); bytes += 8) {
    memset(room, 0xab, sizeof room);
    EXPECT(effort_hint_copy((effort_hint*)(void*)room, bytes) == 0);
    EXPECT(memcmp(room, &whole, bytes) == 0);
    for (size_t i = bytes; i < sizeof room; ++i)
      if (!EXPECT(room[i] == 0xab)) break;
  }
}

int main(void) {
  effort_config* config = NULL;
  int32_t solve = -1, cells = -1, level = -1;
  volatile int32_t place = -1;
  EXPECT(effort_version() >= 100 && effort_version() < 10000);
  EXPECT(effort_begin(1) == -2);
  EXPECT(effort_config_new(&config) == 0 && effort_config_set(config, "WINDOW", "10") == 0);
  EXPECT(effort_config_set(config, "WINDOW", "none") == -8);
  EXPECT(effort_init(config) == 0 && effort_config_free(config) == 0 && effort_init(NULL) == -3);
  EXPECT(effort_region("solve", 0, &solve) == 0 && effort_work_unit("cells", &cells) == 0 &&
         effort_metric_define("level", "1", &level) == 0);
  EXPECT(effort_region("solve", 2, &solve) == -7 && effort_begin(99) == -4 && effort_end(solve) == -5);
  EXPECT(effort_on_rebalance(called, &calls) == 0 && effort_phase("all") == 0);
  for (int s = 0; s < 40; ++s) {
    EXPECT(effort_begin_named("outer", &place) == 0 && effort_begin(solve) == 0);
    const struct slot* mine = (const struct slot*)effort_this_thread_slot;
    EXPECT(mine && (mine->layout != 3 || (mine->current == (uint32_t)solve && mine->depth == 2 && mine->limit >= 2 &&
                                          mine->cells[solve].begins > s)));
    EXPECT(effort_end(solve) == 0 && effort_end_named("outer", &place) == 0);
    EXPECT(effort_add(solve, 2) == 0 && effort_work(cells, 5) == 0 && effort_metric(level, 1) == 0);
    EXPECT(effort_progress_step() == 0);
  }
  EXPECT(effort_rebalance_begin() == 0 && effort_rebalance_end() == 0);
  EXPECT(calls >= 3);
  copies();
  EXPECT(effort_finalize() == 0 && strcmp(effort_status_string(-17), "") != 0);
  return failed != 0;
}
