// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JunitReportTest {
  @TempDir private Path directory;

  @Test
  void shouldDistinguishPassedFailedAndSkippedTests() throws IOException {
    Path report =
        write(
            """
            <testsuite name="S" tests="4">
              <properties><property name="a" value="b"/></properties>
              <testcase name="good" classname="S" time="0.1"/>
              <testcase name="bad" classname="S" time="0.1">
                <failure message="1 was not 2" type="T">at S</failure>
              </testcase>
              <testcase name="off" classname="S" time="0"><skipped/></testcase>
              <testcase name="cut" classname="S" time="0"><skipped/></testcase>
            </testsuite>
            """);
    Path output =
        Files.writeString(
            directory.resolve("output.log"), "- cut !!! CANCELED !!! (1 millisecond)\n  no disk\n");
    List<TestOutcome> outcomes = JunitReport.read(report, CancelReasons.read(output));
    assertThat(outcomes).extracting(TestOutcome::name).containsExactly("good", "bad", "off", "cut");
    assertThat(outcomes)
        .extracting(TestOutcome::kind)
        .containsExactly(
            TestOutcome.Kind.PASSED,
            TestOutcome.Kind.FAILED,
            TestOutcome.Kind.SKIPPED,
            TestOutcome.Kind.SKIPPED);
    assertThat(outcomes.get(1).detail()).contains("1 was not 2").contains("at S");
    assertThat(outcomes.get(2).detail()).isNotEmpty();
    assertThat(outcomes.get(3).detail()).isEqualTo("no disk");
  }

  private Path write(String text) throws IOException {
    return Files.writeString(directory.resolve("report.xml"), text);
  }
}
