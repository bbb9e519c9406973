// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.io.PrintStream;
import java.util.Locale;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs test classes without a build tool, for example in a guest kernel or on a card ({@code
 * ./card}). Prints the number of tests, one line for each, the stack trace of each failure, and a
 * last line for programs. The exit code is 1 when a test failed, none passed, or fewer ran than
 * were found. Tests have the leak checks and time limits of the build ({@link org.sparkrdma.leak}).
 */
public final class ContractMain extends SummaryGeneratingListener {
  private final PrintStream out = System.out;
  private final long startNs = System.nanoTime();
  private volatile long testNs;

  private ContractMain() {}

  /**
   * Arguments: test classes. {@code CLASS/Nested} runs one nested class, {@code CLASS/Nested#test}
   * one test.
   */
  public static void main(String[] classes) {
    var main = new ContractMain();
    var request =
        LauncherDiscoveryRequestBuilder.request()
            .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
            // Tests that are not found, because they are private, fail the run.
            .configurationParameter("junit.platform.discovery.issue.severity.critical", "WARNING")
            .filters(EngineFilter.includeEngines("junit-jupiter"));
    for (String name : classes) {
      request.selectors(selectUniqueId(id(name)));
    }
    main.run(request.build());
    System.exit(main.report(String.join(",", classes)) ? 0 : 1);
  }

  private static String id(String name) {
    return "[engine:junit-jupiter]/[class:"
        + name.replaceFirst("/([^#]+)", "]/[nested-class:$1")
            .replaceFirst("#(.+)", "]/[method:$1()")
        + "]";
  }

  private void run(LauncherDiscoveryRequest request) {
    LauncherFactory.create().execute(request, this);
  }

  private boolean report(String classes) {
    TestExecutionSummary summary = getSummary();
    long passed = summary.getTestsSucceededCount();
    long failed = summary.getTotalFailureCount();
    long skipped = summary.getTestsSkippedCount() + summary.getTestsAbortedCount();
    out.printf(
        Locale.ROOT,
        "contract: {\"tests\":\"%s\",\"kernel\":\"%s\",\"java\":\"%s\",\"passed\":%d,\"failed\":%d,"
            + "\"skipped\":%d,\"seconds\":%.1f}%n",
        classes,
        System.getProperty("os.version"),
        Runtime.version(),
        passed,
        failed,
        skipped,
        (System.nanoTime() - startNs) / 1e9);
    long left = summary.getTestsFoundCount() - passed - summary.getTestsFailedCount() - skipped;
    if (left > 0) {
      out.println("Tests that were found and did not run: " + left);
    }
    return failed == 0 && passed > 0 && left == 0;
  }

  @Override
  public void testPlanExecutionStarted(TestPlan plan) {
    super.testPlanExecutionStarted(plan);
    out.println("tests: " + getSummary().getTestsFoundCount());
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    super.executionStarted(test);
    testNs = System.nanoTime();
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    super.executionSkipped(test, reason);
    out.println("SKIPPED " + name(test) + ": " + reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    super.executionFinished(test, result);
    long ms = (System.nanoTime() - testNs) / 1_000_000;
    switch (result.getStatus()) {
      case SUCCESSFUL -> {
        if (test.isTest()) {
          out.println("passed  " + name(test) + " " + ms + " ms");
        }
      }
      case ABORTED -> out.println("SKIPPED " + name(test) + ": " + message(result));
      case FAILED -> {
        out.println("FAILED  " + name(test) + " " + ms + " ms");
        result.getThrowable().ifPresent(e -> e.printStackTrace(out));
      }
    }
    out.flush();
  }

  private static String message(TestExecutionResult result) {
    return result.getThrowable().map(Throwable::getMessage).orElse("");
  }

  /** {@code Class#Nested.test()}, as `dev/build/allowed-skips.txt` names tests. */
  private static String name(TestIdentifier test) {
    String id = test.getUniqueId();
    String simpleName = id.replaceAll(".*\\[class:(?:[^]]*\\.)?([^].]*)].*", "$1");
    String nested = id.replaceAll(".*nested-class:([^]]*)].*", "$1.");
    return simpleName + "#" + (nested.equals(id) ? "" : nested) + test.getDisplayName();
  }
}
