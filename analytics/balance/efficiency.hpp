// The efficiencies of the POP methodology: how much of the time is work.
#pragma once

namespace effort::balance {

/// Shares of the elapsed time.  Negative: not known.
struct Efficiencies {
  double load_balance = -1;   ///< mean / largest of the ranks' loads, summed over the window
  double communication = -1;  ///< largest load / elapsed time
  double parallel = -1;       ///< load balance x communication: mean load / elapsed time
  double ideal_saving = -1;   ///< share of the elapsed time that ideal balance in every step would save
};

/// Efficiencies of one window (Rosas, Gimenez & Labarta 2014: parallel = load balance x communication).
///
/// @param mean      load of the mean rank, summed over the window, seconds >= 0
/// @param largest   load of the most loaded rank, summed over the window, seconds
/// @param critical  sum over steps of the largest rank's load, seconds (>= largest)
/// @param elapsed   wall time of the window, largest over ranks, seconds; <= 0: not known.  The ideal saving is then a
///                  share of `critical`, and communication and parallel stay unknown
/// If the wall time is below the critical path, the critical path is used instead: the loads may come from another
/// clock.
Efficiencies efficiencies(double mean, double largest, double critical, double elapsed);

}  // namespace effort::balance
