// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.sparkrdma.card.CaseResult.Outcome;

/**
 * One run of the contract suite in a process of its own.
 *
 * @param cases results in their order
 * @param notRun number of selected cases without a result, at least 1 when the process did not end
 *     by itself after its last case
 * @param seconds duration
 */
record SuiteRun(List<CaseResult> cases, int notRun, long seconds) {
  private static final int PASSED = 0;

  /**
   * Runs the suite until its end or the time limit, which kills it.
   *
   * @param tests arguments of ContractMain
   * @param output receives the lines for the user
   */
  static SuiteRun run(
      Programs programs,
      CardDevice card,
      String driver,
      List<String> tests,
      TimeLimit limit,
      Consumer<String> output)
      throws IOException, InterruptedException {
    CaseLog log = new CaseLog(output, System::nanoTime);
    long startNs = System.nanoTime();
    boolean ended;
    try (ChildProcess suite =
        ChildProcess.start(
            programs.contract(tests), environment(card, driver), log::accept, log::accept)) {
      OptionalInt code = suite.await(limit.left());
      if (code.isEmpty()) {
        output.accept(
            "The suite did not end within the time limit and was killed: the case after the last line"
                + " hangs, or --minutes is too short.");
      }
      // A failed case makes the exit code 1, too.
      ended = code.isPresent() && (code.getAsInt() == PASSED || log.count(Outcome.FAILED) > 0);
    }
    return new SuiteRun(
        log.results(),
        ended ? log.notRun() : Math.max(1, log.notRun()),
        Duration.ofNanos(System.nanoTime() - startNs).toSeconds());
  }

  /** The device, for IbverbsUnderTest. */
  private static Map<String, String> environment(CardDevice card, String driver) {
    Map<String, String> environment = new TreeMap<>();
    environment.put("CARD_ADDRESS", card.address().getHostAddress());
    environment.put("CARD_DRIVER", driver);
    environment.put("CARD_TRANSPORT", card.info().transport().name());
    InetAddress six = card.addressV6();
    if (six != null) {
      environment.put("CARD_ADDRESS6", six.getHostAddress());
    }
    return environment;
  }

  /** The number of cases with this outcome. */
  long count(Outcome outcome) {
    return cases.stream().filter(one -> one.outcome() == outcome).count();
  }

  /** Whether all selected cases ended, at least one passed and none failed. */
  boolean passed() {
    return notRun == 0 && count(Outcome.FAILED) == 0 && count(Outcome.PASSED) > 0;
  }
}
