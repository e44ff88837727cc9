/* Zoltan's object weights from the library's costs.  Header only; link Zoltan and libeffort as you do already.
 *
 * The host computes one weight per object (effort_weights_items from unit costs, effort_weights_share from the rank's
 * predicted load) and keeps its own query functions; this hands the weights to Zoltan:
 *
 *     effort_zoltan weights = {my_num_obj, mesh, my_obj_list, mesh, weight};
 *     effort_zoltan_attach(zz, &weights);
 *     Zoltan_LB_Partition(zz, ...);
 */
#ifndef EFFORT_ZOLTAN_H
#define EFFORT_ZOLTAN_H

#include <effort/effort.h>
#include <zoltan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The host's own queries and the weights that belong to them.  It must live as long as Zoltan may use it. */
typedef struct effort_zoltan {
  ZOLTAN_NUM_OBJ_FN* count; /**< the host's ZOLTAN_NUM_OBJ_FN */
  void* count_data;
  ZOLTAN_OBJ_LIST_FN* list; /**< the host's ZOLTAN_OBJ_LIST_FN; the weights that it writes are replaced */
  void* list_data;
  const double* weight; /**< [objects] seconds, >= 0, in the order in which `list` names the objects */
} effort_zoltan;

/** Lists the host's objects with the weights; Zoltan calls it. */
static inline void effort_zoltan_list(void* data, int n_gid, int n_lid, ZOLTAN_ID_PTR gid, ZOLTAN_ID_PTR lid,
                                      int n_weights, float* weight, int* error) {
  const effort_zoltan* host = (const effort_zoltan*)data;
  const int n = host->count(host->count_data, error);
  if (*error != ZOLTAN_OK && *error != ZOLTAN_WARN) return;
  host->list(host->list_data, n_gid, n_lid, gid, lid, n_weights, weight, error);
  if (n_weights < 1 || (*error != ZOLTAN_OK && *error != ZOLTAN_WARN)) return;
  for (int i = 0; i < n; ++i) weight[(size_t)i * (size_t)n_weights] = (float)host->weight[i];
}

/** Makes Zoltan ask for one weight per object, and supplies the weights.  @returns Zoltan's code */
static inline int effort_zoltan_attach(struct Zoltan_Struct* zoltan, effort_zoltan* host) {
  int code = Zoltan_Set_Param(zoltan, "OBJ_WEIGHT_DIM", "1");
  if (code == ZOLTAN_OK) code = Zoltan_Set_Num_Obj_Fn(zoltan, host->count, host->count_data);
  return code == ZOLTAN_OK ? Zoltan_Set_Obj_List_Fn(zoltan, effort_zoltan_list, host) : code;
}

#ifdef __cplusplus
}
#endif
#endif /* EFFORT_ZOLTAN_H */
