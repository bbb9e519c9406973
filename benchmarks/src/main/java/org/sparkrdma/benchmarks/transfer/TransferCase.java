// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.launch.Quartiles;

/**
 * The rounds of one block length.
 *
 * @param engine of the plug-in
 * @param figures median and quartiles of the rounds, by the names of {@link Round#figures}
 */
record TransferCase(
    TransferKind kind,
    String engine,
    int blockBytes,
    VerifyMode verify,
    int batch,
    int rounds,
    Map<String, Quartiles> figures) {
  /**
   * @param rounds figures of each, at least one
   */
  static TransferCase of(
      TransferPlan plan,
      String engine,
      VerifyMode verify,
      int blockBytes,
      List<Map<String, Double>> rounds) {
    Map<String, Quartiles> figures = new LinkedHashMap<>();
    for (String name : rounds.get(0).keySet()) {
      figures.put(name, Quartiles.of(rounds, round -> round.get(name)));
    }
    return new TransferCase(
        plan.kind(), engine, blockBytes, verify, plan.batch(), rounds.size(), figures);
  }

  /** A case for each block length of the plan. */
  static List<TransferCase> all(
      TransferPlan plan, String engine, VerifyMode verify, TransferResult result) {
    List<TransferCase> cases = new ArrayList<>();
    for (int i = 0; i < plan.blockBytes().size(); i++) {
      int from = i * plan.rounds();
      List<Map<String, Double>> rounds = result.rounds().subList(from, from + plan.rounds());
      cases.add(of(plan, engine, verify, plan.blockBytes().get(i), rounds));
    }
    return cases;
  }
}
