// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.card.CaseResult.Outcome;

@Timeout(20)
class CaseLogTest {
  private final List<String> shown = new ArrayList<>();
  private long nowNs;
  private final CaseLog log = new CaseLog(shown::add, () -> nowNs);

  private void accept(String... lines) {
    for (String line : lines) {
      log.accept(line);
    }
  }

  @Test
  void shouldTakeTheResultOfEachCase() {
    accept(
        "tests: 4",
        "passed  IbverbsVerbsContractOnCard#Reads.shouldReadABlock() 12 ms",
        "SKIPPED IbverbsVerbsContractOnCard#Sends.shouldSendInline(): Assumption failed: the device has no capability INLINE",
        "FAILED  Writes.shouldWrite(): does not end within its time limit of 120 s");
    assertThat(log.results())
        .containsExactly(
            new CaseResult("Reads.shouldReadABlock()", Outcome.PASSED, 12, ""),
            new CaseResult(
                "Sends.shouldSendInline()",
                Outcome.SKIPPED,
                0,
                "the device has no capability INLINE"),
            new CaseResult(
                "Writes.shouldWrite()",
                Outcome.FAILED,
                120_000,
                "does not end within its time limit of 120 s"));
    assertThat(log.notRun()).isEqualTo(1);
    assertThat(log.count(Outcome.FAILED)).isEqualTo(1);
  }

  @Test
  void shouldKeepTheKindAndThePlaceOfAFailureAndNoValue() {
    accept(
        "tests: 2",
        "FAILED  A#Memory.shouldRegister() 7 ms",
        "org.sparkrdma.verbs.VerbsException: ibv_reg_mr failed: errno=12 (Cannot allocate memory) address=192.0.2.7 key=0x1234abcd",
        "\tat org.sparkrdma.verbs.ibverbs.IbverbsDevice.register(IbverbsDevice.java:99)",
        "\tat app//org.sparkrdma.verbs.contract.MemoryContract.shouldRegister(MemoryContract.java:77)",
        "passed  A#Memory.shouldAllocate() 1 ms");
    assertThat(log.results().get(0))
        .isEqualTo(
            new CaseResult(
                "Memory.shouldRegister()",
                Outcome.FAILED,
                7,
                "org.sparkrdma.verbs.VerbsException ibv_reg_mr failed errno=12 at IbverbsDevice.java:99 at MemoryContract.java:77"));
    assertThat(shown).anyMatch(line -> line.contains("key=0x1234abcd"));
  }

  @Test
  void shouldKeepNoValueOfAFailedAssertionInTheLastCase() {
    accept(
        "FAILED  A#Reads.shouldRead() 7 ms",
        "org.opentest4j.AssertionFailedError: ",
        "expected: 10.1.2.3",
        "\tat java.base/java.lang.Thread.run(Thread.java:1)",
        "\tat org.sparkrdma.verbs.contract.ReadContract.shouldRead(ReadContract.java:5)");
    assertThat(log.results())
        .extracting(CaseResult::detail)
        .containsExactly("org.opentest4j.AssertionFailedError at ReadContract.java:5");
  }

  @Test
  void shouldEstimateTheEndFromTheMeanOfTheCasesBefore() {
    accept("tests: 130");
    nowNs = TimeUnit.SECONDS.toNanos(10);
    for (int i = 0; i < 10; i++) {
      accept("passed  A#Reads.shouldRead() 1000 ms");
    }
    assertThat(shown.get(1)).isEqualTo("  1/130 passed  Reads.shouldRead() 1000 ms");
    assertThat(shown.get(10))
        .isEqualTo(" 10/130 passed  Reads.shouldRead() 1000 ms, about 2:00 min left");
  }

  @Test
  void shouldNeverKeepAReasonThatHasNumbersOrAddresses() {
    accept("SKIPPED A#Reads.shouldRead(): nothing at 192.0.2.7");
    assertThat(log.results().get(0).detail()).isEmpty();
  }
}
