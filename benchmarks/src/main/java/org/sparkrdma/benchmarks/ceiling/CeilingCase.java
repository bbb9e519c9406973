// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.transfer.Spread;

/**
 * One block length with one number of peers.
 *
 * @param figures median and range of the rounds
 */
record CeilingCase(int blockBytes, int peers, int rounds, Map<Figure, Spread> figures) {
  /**
   * @param rounds of one case, at least one
   */
  static CeilingCase of(List<CeilingRound> rounds) {
    Map<Figure, Spread> figures = new EnumMap<>(Figure.class);
    for (Figure figure : Figure.values()) {
      figures.put(figure, Spread.of(rounds, figure::of));
    }
    CeilingRound first = rounds.get(0);
    return new CeilingCase(first.blockBytes(), first.peers(), rounds.size(), figures);
  }

  double median(Figure figure) {
    return figures.get(figure).median();
  }
}
