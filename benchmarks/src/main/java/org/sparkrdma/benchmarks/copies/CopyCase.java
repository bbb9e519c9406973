// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.util.List;
import org.sparkrdma.benchmarks.transfer.Spread;

/**
 * One length of blocks from one kind of batch: medians and ranges of the rounds.
 *
 * @param copies number of a round
 * @param mappedRatio positioned read / mapping that was read before, of each round
 * @param newMappedRatio positioned read / new mapping, of each round
 */
record CopyCase(
    String batch,
    int files,
    int fileBytes,
    int blockBytes,
    int copies,
    int rounds,
    Spread readUs,
    Spread mappedUs,
    Spread mappedRatio,
    Spread newMappedUs,
    Spread newMappedRatio,
    Spread mapUs,
    Spread unmapUs) {
  /**
   * @param rounds at least one
   */
  static CopyCase of(CopyBatch batch, int fileBytes, int blockBytes, List<CopyRound> rounds) {
    return new CopyCase(
        batch.toString(),
        batch.files(),
        fileBytes,
        blockBytes,
        batch.files() * (fileBytes / blockBytes),
        rounds.size(),
        Spread.of(rounds, CopyRound::readUs),
        Spread.of(rounds, CopyRound::mappedUs),
        Spread.of(rounds, CopyRound::mappedRatio),
        Spread.of(rounds, CopyRound::newMappedUs),
        Spread.of(rounds, CopyRound::newMappedRatio),
        Spread.of(rounds, CopyRound::mapUs),
        Spread.of(rounds, CopyRound::unmapUs));
  }
}
