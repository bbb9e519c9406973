// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.card.CaseResult.Outcome;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.collect.AddressMask;

class CardReportTest {
  private static final SystemFacts SYSTEM =
      new SystemFacts(
          "mlx5_core", "6.1.0-node17", "44.0", "17.0.15.1+6, Debian", "0.1.0, commit 203abdff12");

  @TempDir private Path root;

  private static CardReport report(SystemFacts system, List<CaseResult> cases, int notRun)
      throws Exception {
    return new CardReport(
        FakeDevices.card(),
        system,
        LocalDate.of(2026, 11, 25),
        List.of(),
        new SuiteRun(cases, notRun, 90),
        CostResult.of(FakePrograms.COSTS),
        TransferResult.of(FakePrograms.FIGURES),
        null);
  }

  private static CaseResult passed() {
    return new CaseResult("Reads.shouldRead()", Outcome.PASSED, 3, "");
  }

  @Test
  void shouldHaveVersionsAndResultsWithoutAddressesKeysAndNames() throws Exception {
    Path host = Files.createDirectories(root.resolve("proc/sys/kernel")).resolve("hostname");
    Files.writeString(host, "node17\n");
    CaseResult failed =
        new CaseResult("Memory.shouldRegister()", Outcome.FAILED, 7, "errno=12 at A.java:1");
    String json =
        report(SYSTEM, List.of(passed(), failed), 0).json(new AddressMask(new SystemFiles(root)));

    JsonNode report = new ObjectMapper().readTree(json);
    assertThat(report.at("/schema").asInt()).isEqualTo(1);
    assertThat(report.at("/passed").asBoolean()).isFalse();
    assertThat(report.at("/device/driver").asText()).isEqualTo("mlx5_core");
    assertThat(report.at("/device/firmware").asText()).isEqualTo(FakeDevices.FIRMWARE);
    assertThat(report.at("/device/partId").asText()).isEqualTo("4119");
    assertThat(report.at("/device/network").asText()).isEqualTo("RoCE");
    assertThat(report.at("/device/capabilities")).hasSize(2);
    assertThat(report.at("/system/kernel").asText()).isEqualTo("6.1.0-this-host");
    assertThat(report.at("/system/java").asText()).isEqualTo("17.0.15.1+6, Debian");
    assertThat(report.at("/system/rdmaCore").asText()).isEqualTo("44.0");
    assertThat(report.at("/system/plugin").asText()).contains("commit 203abdff12");
    assertThat(report.at("/suite/failed").asInt()).isEqualTo(1);
    assertThat(report.at("/suite/seconds").asInt()).isEqualTo(90);
    assertThat(report.at("/cases/1/detail").asText()).isEqualTo("errno=12 at A.java:1");
    assertThat(json).doesNotContain("192.0.2.7", "2001:db8", "node17", "0102:0304");
  }

  @Test
  void shouldCallTheSoftDevicesOfTheKernelNoCard() throws Exception {
    SystemFacts soft = new SystemFacts("rxe", "6.12.117", "44.0", "17.0.15.1+6, Debian", "x");
    assertThat(report(soft, List.of(passed()), 0).row()).startsWith("| *guest* | mlx5_0, rxe, ");
    assertThat(report(SYSTEM, List.of(passed()), 0).row()).startsWith("| *card* | mlx5_0, ");
  }

  @Test
  void shouldPassOnlyWhenAllCasesEnded() throws Exception {
    assertThat(report(SYSTEM, List.of(passed()), 0).passed()).isTrue();
    assertThat(report(SYSTEM, List.of(passed()), 1).passed()).isFalse();
    assertThat(report(SYSTEM, List.of(), 0).passed()).isFalse();
    assertThat(report(SYSTEM, List.of(passed()), 1).row()).contains(", 1 not run |");
  }

  @Test
  void shouldWriteARow() throws Exception {
    assertThat(report(SYSTEM, List.of(passed()), 0).row())
        .isEqualTo(
            "| *card* | mlx5_0, mlx5_core, firmware 229.0.154.0 | RoCE | 6.1.0-node17, rdma-core 44.0, Java"
                + " 17.0.15.1 | 1 passed, 0 failed, 0 skipped | 3.0, 2.5 | 0.1.0, commit 203abdff12, 2026-11-25 |");
  }
}
