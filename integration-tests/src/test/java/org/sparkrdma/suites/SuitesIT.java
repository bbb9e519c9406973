// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * Runs the suites and reports each of their tests as a separate test.
 *
 * <p>{@code -Dit.suites=ShuffleSuite,UpgradeSuite} and {@code -Dit.settings=soft} select some;
 * {@code -Pnightly} runs the long ones as a whole. {@code -Dit.parallel=1} runs one suite at a time
 * instead of three. Every run has its own time limit, JVMs and directory; its whole output is kept
 * under {@code target/suites}.
 */
@Timeout(value = 12, unit = TimeUnit.HOURS)
final class SuitesIT {
  private static final PrintStream OUT = System.out;

  @TestFactory
  Stream<DynamicNode> shouldPassInAFreshJvm() throws IOException {
    Workbench workbench = Workbench.fromBuild();
    SuiteSelection selection =
        new SuiteSelection(
            System.getProperty("it.suites", ""), System.getProperty("it.settings", ""));
    List<SuiteRun> runs = selection.from(Suites.all(Boolean.getBoolean("it.nightly")));
    ExecutorService runners = Executors.newFixedThreadPool(Integer.getInteger("it.parallel", 3));
    // All are submitted before the first result is awaited.
    List<DynamicNode> nodes = runs.stream().map(run -> node(workbench, run, runners)).toList();
    runners.shutdown();
    OUT.print(SuiteResult.header());
    return nodes.stream();
  }

  private static DynamicNode node(Workbench workbench, SuiteRun run, ExecutorService runners) {
    Future<SuiteResult> result = runners.submit(() -> new SuiteProcess(workbench, run).run());
    return dynamicContainer(run.label(), Stream.of(run).flatMap(r -> tests(r, result)));
  }

  private static Stream<DynamicTest> tests(SuiteRun run, Future<SuiteResult> running) {
    SuiteResult result = await(run, running);
    OUT.print(result.row());
    return result.outcomes().stream()
        .map(outcome -> dynamicTest(outcome.name(), () -> report(run, outcome)));
  }

  private static SuiteResult await(SuiteRun run, Future<SuiteResult> running) {
    try {
      return running.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("cannot run " + run.label(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted: run=" + run.label(), e);
    }
  }

  /** Names the test in the reason of a skip, because reports only number these tests. */
  private static void report(SuiteRun run, TestOutcome outcome) {
    switch (outcome.kind()) {
      case PASSED -> {}
      case FAILED -> fail(outcome.detail());
      case SKIPPED ->
          abort(
              "%s \"%s\": %s"
                  .formatted(run.label(outcome.suiteClass()), outcome.name(), outcome.detail()));
    }
  }
}
