# Time and results of R's cluster package on a table of little-endian float64 rows.
# Rscript reference.R FILE N D K clara|costs|pam
suppressPackageStartupMessages(library(cluster))
a <- commandArgs(trailingOnly = TRUE)
n <- as.integer(a[2]); d <- as.integer(a[3]); k <- as.integer(a[4])
x <- matrix(readBin(a[1], "double", n * d, endian = "little"), n, d, byrow = TRUE)
cpu <- function(expression) { t <- system.time(expression); t[["user.self"]] + t[["sys.self"]] }
cost <- function(medoids) {
  best <- rep(Inf, n)
  for (m in medoids) best <- pmin(best, sqrt(colSums((t(x) - x[m, ])^2)))
  mean(best)
}
cat("version", paste0(R.version$major, ".", R.version$minor, "/cluster-", packageVersion("cluster")), "\n")
if (a[5] == "clara") {
  repeats <- if (n > 500000) 1 else if (n > 100000) 3 else 5
  times <- replicate(repeats, cpu(clara(x, k, rngR = TRUE, keep.data = FALSE, medoids.x = FALSE)))
  cat("clara", format(median(times), digits = 6), "\n")
} else if (a[5] == "costs") {
  for (seed in 1:20) {
    set.seed(seed)
    cat("cost", format(cost(clara(x, k, rngR = TRUE)$i.med), digits = 12), "\n")
  }
} else {
  cat("original", format(cpu(p <- pam(x, k, variant = "original", keep.diss = FALSE, keep.data = FALSE)), digits = 6), "\n")
  cat("medoids", sort(p$id.med) - 1, "\n")
  cat("pamonce6", format(cpu(pam(x, k, pamonce = 6, keep.diss = FALSE, keep.data = FALSE)), digits = 6), "\n")
}
