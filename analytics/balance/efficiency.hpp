// How much of the time is work: the efficiencies of the POP methodology.
#pragma once

namespace effort::balance {

/// Shares of the elapsed time; < 0: not known.
struct Efficiencies {
  double load_balance = -1;   ///< mean / largest load of the ranks, of the window's sums
  double communication = -1;  ///< largest load / elapsed time
  double parallel = -1;       ///< load balance x communication: mean load / elapsed time
  double ideal_saving = -1;   ///< share of the elapsed time that ideal balance in every step would save
};

/// Efficiencies of one window (Rosas, Gimenez & Labarta 2014: parallel = load balance x communication).
///
/// @param mean      load of the mean rank, summed over the window, seconds >= 0
/// @param largest   load of the rank with most, summed over the window, seconds
/// @param critical  sum over steps of the largest rank's load, seconds (>= largest)
/// @param elapsed   wall time of the window, largest over ranks, seconds; <= 0: not known, then the ideal saving is a
///                  share of `critical` and communication and parallel stay unknown
/// Wall time below the critical path (loads measured by another clock) is taken as the critical path.
Efficiencies efficiencies(double mean, double largest, double critical, double elapsed);

}  // namespace effort::balance
