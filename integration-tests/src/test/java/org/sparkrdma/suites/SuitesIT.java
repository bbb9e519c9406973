// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Runs the suites and reports each of their tests as a separate test.
 *
 * <p>{@code -Dit.suites=ShuffleSuite,SortingSuite} and {@code -Dit.settings=soft} select some;
 * {@code -Pnightly} runs long suites as a whole. Every run has its own time limit; its whole output
 * is kept under {@code target/suites}.
 */
final class SuitesIT {
  private static final SummaryTable TABLE = new SummaryTable();
  private static final PrintStream OUT = System.out;

  @TestFactory
  Stream<DynamicNode> shouldPassInAFreshJvm() throws IOException {
    Workbench workbench = Workbench.fromBuild();
    SuiteSelection selection =
        new SuiteSelection(
            System.getProperty("it.suites", ""), System.getProperty("it.settings", ""));
    List<SuiteRun> runs = selection.from(Suites.all(Boolean.getBoolean("it.nightly")));
    return runs.stream()
        .map(
            run -> dynamicContainer(run.label(), Stream.of(run).flatMap(r -> tests(workbench, r))));
  }

  @AfterAll
  static void printTable() {
    OUT.println(TABLE.text());
  }

  private static Stream<DynamicTest> tests(Workbench workbench, SuiteRun run) {
    SuiteResult result = execute(workbench, run);
    TABLE.add(result);
    OUT.print(SummaryTable.row(result));
    return result.outcomes().stream()
        .map(outcome -> dynamicTest(outcome.name(), () -> report(run, outcome)));
  }

  private static SuiteResult execute(Workbench workbench, SuiteRun run) {
    try {
      return new SuiteProcess(workbench, run).run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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
          abort("%s \"%s\": %s".formatted(run.label(), outcome.name(), outcome.detail()));
    }
  }
}
