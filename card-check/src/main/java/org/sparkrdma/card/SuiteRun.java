// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One run of the contract suite in a process of its own, from the lines that ContractMain prints.
 * All lines go to the user. Of failures the results keep only the type of the error and the call
 * with its errno: messages may have addresses and keys. Safe for any thread.
 */
final class SuiteRun {
  private static final String TOTAL = "tests: ";
  private static final Pattern ENDED =
      Pattern.compile("(passed|FAILED)  (?:\\w+#)?(\\S.*?)(?: (\\d+) ms|: does not end .*)");
  private static final Pattern SKIPPED = Pattern.compile("SKIPPED (?:\\w+#)?(\\S.*?): .*");

  private static final Pattern ERROR =
      Pattern.compile("([\\w.$]+(?:Error|Exception|Failure))(?::.*)?");
  private static final Pattern FACT =
      Pattern.compile("\\b((?:call|status)=[A-Za-z_]+|errno=\\d{1,3}|(?:ibv|rdma)_\\w+ failed)");

  private final Consumer<String> output;
  private final List<Case> cases = new ArrayList<>();
  private int total;
  private boolean ended;

  /** Result of one case: passed, failed or skipped, and facts of a failure. */
  record Case(String name, String result, long ms, List<String> facts) {}

  /**
   * @param output receives the lines for the user
   */
  SuiteRun(Consumer<String> output) {
    this.output = output;
  }

  /**
   * Runs the suite until its end or the time limit, which kills it.
   *
   * @param tests arguments of ContractMain
   */
  void run(Programs programs, CardDevice card, String driver, List<String> tests, Instant end)
      throws IOException, InterruptedException {
    try (ChildProcess suite =
        new ChildProcess(programs.contract(tests), environment(card, driver), this::accept)) {
      OptionalInt code = suite.await(end);
      if (code.isEmpty()) {
        output.accept(
            "The suite did not end within the time limit and was killed: the case after the last line"
                + " hangs, or --minutes is too short.");
      }
      // A failed case makes the exit code 1, too.
      ended = code.isPresent() && (code.getAsInt() == 0 || count("failed") > 0);
    }
  }

  /** The device, for IbverbsUnderTest. */
  private static Map<String, String> environment(CardDevice card, String driver) {
    Map<String, String> environment = new TreeMap<>();
    environment.put("CARD_ADDRESS", card.address().getHostAddress());
    environment.put("CARD_DRIVER", driver);
    environment.put("CARD_TRANSPORT", card.info().transport().name());
    card.addressV6().ifPresent(six -> environment.put("CARD_ADDRESS6", six.getHostAddress()));
    return environment;
  }

  /** Takes the next line. */
  synchronized void accept(String line) {
    Matcher end = ENDED.matcher(line);
    Matcher skipped = SKIPPED.matcher(line);
    if (line.startsWith(TOTAL)) {
      total = Integer.parseInt(line.substring(TOTAL.length()));
    } else if (end.matches()) {
      String result = end.group(1).equals("passed") ? "passed" : "failed";
      long ms = end.group(3) == null ? 0 : Long.parseLong(end.group(3));
      cases.add(new Case(end.group(2), result, ms, new ArrayList<>()));
    } else if (skipped.matches()) {
      cases.add(new Case(skipped.group(1), "skipped", 0, List.of()));
    } else if (!cases.isEmpty() && cases.get(cases.size() - 1).result().equals("failed")) {
      addFactsOfTrace(line, cases.get(cases.size() - 1).facts());
    }
    String number = end.matches() || skipped.matches() ? cases.size() + "/" + total + " " : "";
    output.accept(number + line);
  }

  private static void addFactsOfTrace(String line, List<String> facts) {
    Matcher error = ERROR.matcher(line);
    if (error.matches() && facts.isEmpty()) {
      facts.add(error.group(1));
    }
    FACT.matcher(line).results().forEach(found -> facts.add(found.group(1)));
  }

  /** All results so far. */
  synchronized List<Case> cases() {
    return List.copyOf(cases);
  }

  /** The number of cases with this result. */
  synchronized long count(String result) {
    return cases.stream().filter(one -> one.result().equals(result)).count();
  }

  /**
   * The number of selected cases without a result, at least 1 when the process did not end by
   * itself.
   */
  synchronized int notRun() {
    return Math.max(ended ? 0 : 1, total - cases.size());
  }

  /** Whether all selected cases ended, at least one passed and none failed. */
  boolean passed() {
    return notRun() == 0 && count("failed") == 0 && count("passed") > 0;
  }
}
