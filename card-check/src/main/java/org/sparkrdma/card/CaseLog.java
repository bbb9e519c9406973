// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.card.CaseResult.Outcome;

/**
 * Reads the output of ContractMain: collects the results, and hands on a line for each case with
 * the time that is left by estimate. All other lines, such as stack traces, are handed on as they
 * are. Of these the results have only the type of the error, its place in the code, and the name of
 * the call with its errno: messages may have addresses and keys. Safe for any thread.
 */
final class CaseLog {
  private static final String CLASS = "\\w+#";
  private static final Pattern TOTAL = Pattern.compile("tests: (\\d+)");
  private static final Pattern ENDED =
      Pattern.compile("(passed|FAILED)  (?:" + CLASS + ")?(\\S.*) (\\d+) ms");
  private static final Pattern NEVER_ENDED =
      Pattern.compile("FAILED  (\\S.*): (does not end within its time limit of (\\d+) s)");
  private static final Pattern SKIPPED =
      Pattern.compile("SKIPPED (?:" + CLASS + ")?(\\S.*?): (?:Assumption failed: )?(.*)");

  /** Reasons of skips are words. */
  private static final Pattern WORDS = Pattern.compile("[A-Za-z_,:' -]{1,120}");

  private static final Pattern ERROR =
      Pattern.compile("([\\w.$]+(?:Error|Exception|Failure))(?::.*)?");
  private static final Pattern FACT =
      Pattern.compile(
          "\\b((?:call|status|state)=[A-Za-z_]+|errno=\\d{1,3}|(?:ibv|rdma)_\\w+ failed)");
  private static final Pattern FRAME =
      Pattern.compile("\\s+at (?:\\S*/)?org\\.sparkrdma\\.[\\w.$]+\\((\\w+\\.java:\\d+)\\)");

  /** Cases after which the mean duration says something. */
  private static final int MIN_CASES = 10;

  private static final int MAX_FRAMES = 3;
  private static final int SECONDS_PER_MINUTE = 60;

  private final Consumer<String> output;
  private final LongSupplier clockNs;
  private final List<CaseResult> results = new ArrayList<>();
  private final List<String> trace = new ArrayList<>();
  private long startNs;
  private int total;
  private boolean inTrace;

  /**
   * @param output receives the lines for the user
   * @param clockNs as System.nanoTime()
   */
  CaseLog(Consumer<String> output, LongSupplier clockNs) {
    this.output = output;
    this.clockNs = clockNs;
    startNs = clockNs.getAsLong();
  }

  /** Takes the next line. */
  synchronized void accept(String line) {
    Matcher count = TOTAL.matcher(line);
    Matcher ended = ENDED.matcher(line);
    Matcher neverEnded = NEVER_ENDED.matcher(line);
    Matcher skipped = SKIPPED.matcher(line);
    if (count.matches()) {
      total = Integer.parseInt(count.group(1));
      startNs = clockNs.getAsLong();
      output.accept("The suite has " + total + " cases.");
    } else if (neverEnded.matches()) {
      long ms = Duration.ofSeconds(Long.parseLong(neverEnded.group(3))).toMillis();
      add(new CaseResult(neverEnded.group(1), Outcome.FAILED, ms, neverEnded.group(2)));
    } else if (ended.matches()) {
      Outcome outcome = ended.group(1).equals("passed") ? Outcome.PASSED : Outcome.FAILED;
      add(new CaseResult(ended.group(2), outcome, Long.parseLong(ended.group(3)), ""));
      inTrace = outcome == Outcome.FAILED;
    } else if (skipped.matches()) {
      String reason = skipped.group(2);
      String words = WORDS.matcher(reason).matches() ? reason : "";
      add(new CaseResult(skipped.group(1), Outcome.SKIPPED, 0, words));
    } else if (!line.isEmpty() && !line.startsWith("contract: ")) {
      if (inTrace) {
        trace.add(line);
      }
      output.accept("    " + line);
    }
  }

  private void add(CaseResult result) {
    endTrace();
    results.add(result);
    output.accept(
        "%3d/%d %-7s %s %s%s"
            .formatted(
                results.size(),
                Math.max(total, results.size()),
                result.outcome() == Outcome.PASSED ? "passed" : result.outcome(),
                result.name(),
                result.outcome() == Outcome.SKIPPED
                    ? "(" + result.detail() + ")"
                    : result.ms() + " ms",
                left()));
  }

  /** The estimate: the cases that are left take as long as those before did, on average. */
  private String left() {
    int done = results.size();
    if (done < MIN_CASES || done >= total) {
      return "";
    }
    long leftNs = (clockNs.getAsLong() - startNs) / done * (total - done);
    long seconds = Duration.ofNanos(leftNs).toSeconds();
    return ", about %d:%02d min left"
        .formatted(seconds / SECONDS_PER_MINUTE, seconds % SECONDS_PER_MINUTE);
  }

  /** Gives the last result, which is a failure, what its stack trace says. */
  private void endTrace() {
    if (!trace.isEmpty()) {
      int last = results.size() - 1;
      CaseResult failure = results.get(last);
      results.set(
          last, new CaseResult(failure.name(), failure.outcome(), failure.ms(), detail(trace)));
      trace.clear();
    }
    inTrace = false;
  }

  private static String detail(List<String> trace) {
    List<String> facts = new ArrayList<>();
    Matcher error = ERROR.matcher(trace.get(0));
    facts.add(error.matches() ? error.group(1) : "failure");
    int frames = 0;
    for (String line : trace) {
      if (line.stripLeading().startsWith("at ")) {
        Matcher frame = FRAME.matcher(line);
        if (frame.matches() && ++frames <= MAX_FRAMES) {
          facts.add("at " + frame.group(1));
        }
      } else {
        FACT.matcher(line).results().map(found -> found.group(1)).forEach(facts::add);
      }
    }
    return String.join(" ", facts);
  }

  /** All results so far. */
  synchronized List<CaseResult> results() {
    endTrace();
    return List.copyOf(results);
  }

  /** The number of cases that were selected and have no result. */
  synchronized int notRun() {
    return Math.max(0, total - results.size());
  }

  /** The number of cases with this outcome. */
  synchronized long count(Outcome outcome) {
    return results.stream().filter(result -> result.outcome() == outcome).count();
  }
}
