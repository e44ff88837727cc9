// Modified Z-scores.
#pragma once

#include <span>
#include <vector>

namespace effort::communication {

/// The median; for an even number of values, the mean of the two in the middle; for none, 0.
/// Cost: O(n), of a copy.
double median(std::vector<double> values);

/// How far values are from their median, in standard deviations as the median absolute deviation estimates them
/// (Iglewicz & Hoaglin 1993; Alawneh & Hamou-Lhadj 2022, equation 21): 0.6745 (x - median) / MAD.  If MAD is 0 because
/// more than half of the values are equal, it is (x - median) / (1.253314 x mean absolute deviation), as in Iglewicz &
/// Hoaglin; 0 if all values are equal.
///
/// Table 7 of the paper takes the lower median 4 for its pattern B; with the usual one, as here, the sixth instance
/// scores 3.37 and is not slow.  A-6 (4.047) and C-6 (8.094) are the same.
/// Cost: O(n).
std::vector<double> modified_z_scores(std::span<const double> values);

}  // namespace effort::communication
