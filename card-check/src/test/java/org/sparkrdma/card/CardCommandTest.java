// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortState;

/** Arguments, sentences and exit codes of the command, with programs of bash. */
@Tag("slow")
@Timeout(60)
class CardCommandTest {
  private static final DeviceInfo CARD =
      FakeDevices.device("mlx5_0", PortState.ACTIVE, "192.0.2.7", "2001:db8::7");

  @TempDir private Path root;

  private final StringWriter out = new StringWriter();
  private final StringWriter errors = new StringWriter();
  private final FakePrograms programs = FakePrograms.passing();

  private int run(Supplier<List<DeviceInfo>> devices, Programs started, String... arguments) {
    return new CardCommand(devices, new HostFacts(root), started)
        .line()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(errors, true))
        .execute(arguments);
  }

  private int runOn(List<DeviceInfo> devices, String... arguments) {
    String[] all = Stream.concat(Arrays.stream(arguments), report()).toArray(String[]::new);
    return run(() -> devices, programs, all);
  }

  private Stream<String> report() {
    return Stream.of("--report", root.resolve("report.json").toString());
  }

  private JsonNode readReport() throws IOException {
    return new ObjectMapper().readTree(root.resolve("report.json").toFile());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          mlx5_0 extra                 | Unmatched argument at index 1: 'extra'
          mlx5_0 --case Reads          | Unknown options: '--case', 'Reads'
          mlx5_0 --minutes 0           | --minutes is '0.0': give 1 to 600
          mlx5_0 --minutes NaN         | --minutes is 'NaN': give 1 to 600
          mlx5_0 --minutes soon        | Invalid value for option '--minutes': 'soon' is not a double
          mlx5_0 --report /dev/null/a  | --report cannot be written: /dev/null/a
          """)
  void shouldRefuseWrongArgumentsInOneSentence(String arguments, String sentence) {
    assertThat(run(() -> List.of(CARD), programs, arguments.split(" "))).isEqualTo(2);
    assertThat(errors.toString())
        .hasLineCount(1)
        .startsWith("card: " + sentence)
        .contains("(see ./card --help)");
    assertThat(programs.tests).isEmpty();
  }

  @Test
  void shouldNameTheDeviceThoseFoundAndTheAdvice() throws Exception {
    DeviceInfo down = FakeDevices.device("mlx5_1", PortState.DOWN, "192.0.2.8");
    DeviceInfo bare = FakeDevices.device("mlx5_2", PortState.ACTIVE, "fe80::1");
    DeviceInfo same = FakeDevices.device("rxe0", PortState.ACTIVE, "192.0.2.7");
    List<DeviceInfo> all = List.of(CARD, down, bare, same);

    assertThat(runOn(all, "mlx4_0")).isEqualTo(2);
    assertThat(runOn(all, "mlx5_1")).isEqualTo(2);
    assertThat(runOn(all, "mlx5_2")).isEqualTo(2);
    assertThat(runOn(all, "rxe0")).isEqualTo(2);
    assertThat(runOn(List.of(), "mlx5_0")).isEqualTo(2);
    assertThat(errors.toString().lines())
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .isEqualTo(
                        "card: there is no RDMA device mlx4_0 on this host;"
                            + " found: mlx5_0, mlx5_1, mlx5_2, rxe0; give the name of one of these"),
            line -> assertThat(line).contains("mlx5_1 has no active port (port 1 is DOWN)"),
            line -> assertThat(line).contains("mlx5_2 has no IPv4 or IPv6", "ip addr add"),
            line -> assertThat(line).contains("device rxe0 has no IPv4 or IPv6 address of its own"),
            line -> assertThat(line).contains("no RDMA device mlx5_0", "found: none"));
    assertThat(programs.tests).isEmpty();
    assertThat(root.resolve("report.json")).doesNotExist();
  }

  @Test
  void shouldRunAllCasesAndTheTransferAndWriteTheReport() throws Exception {
    assertThat(runOn(List.of(CARD), "mlx5_0")).as(errors.toString()).isZero();

    assertThat(programs.tests)
        .containsExactly(List.of("org.sparkrdma.verbs.ibverbs.IbverbsVerbsContractOnCard"));
    assertThat(programs.commands).hasSize(2);
    assertThat(programs.commands.get(0)).startsWith("perf", "server", "--port", "0");
    assertThat(programs.commands.get(1)).startsWith("perf", "client", "192.0.2.7:7", "--sizes");
    assertThat(out.toString())
        .contains("1/2 passed  A#Reads.shouldRead() 3 ms\n")
        .contains("READ throughput divided by TCP throughput: 3.0, 2.5\n")
        .containsPattern(
            "Row for docs/data/status.csv: none,none,\\d+,ibverbs,\\w+ \\(unknown\\),"
                + "Linux [^,]+,none \\(`./card`\\),1,passed,\\d{4}-\\d\\d-\\d\\d\n")
        .endsWith("Everything passed.\n");
    JsonNode report = readReport();
    assertThat(report.at("/passed").asBoolean()).isTrue();
    assertThat(report.at("/suite/complete").asBoolean()).isTrue();
    assertThat(report.at("/cases/0/name").asText()).isEqualTo("Reads.shouldRead()");
    assertThat(report.at("/cases/0/ms").asInt()).isEqualTo(3);
    assertThat(report.at("/loop/rows/0/ratio").asDouble()).isEqualTo(3.0);
    assertThat(report.at("/loop/prices/postNs").asInt()).isEqualTo(55);
    assertThat(report.at("/loop/tuning").asText()).isEqualTo("copies");
    assertThat(report.toString()).doesNotContain("192.0.2.7").doesNotContain("2001:db8");
  }

  @Test
  void shouldTakeTheOnlyDeviceAndRefuseToChoose() throws Exception {
    assertThat(runOn(List.of(CARD))).isZero();
    assertThat(out.toString()).contains("Device mlx5_0, ").doesNotContain("open an issue");
    assertThat(runOn(List.of(CARD, CARD))).isEqualTo(2);
    Files.createDirectories(root.resolve("sys/class/cxi/cxi0"));
    assertThat(runOn(List.of())).isEqualTo(2);
    assertThat(errors.toString().lines())
        .satisfiesExactly(
            line -> assertThat(line).contains("has 2 RDMA devices", "mlx5_0, mlx5_0", "give"),
            line -> assertThat(line).contains("has 0 RDMA").endsWith("cannot be tested"));
    assertThat(errors.toString()).contains("cxi0 is HPE Slingshot, which has no verbs");
  }

  @Test
  void shouldNeedLessLockedMemoryForTheQuickRunAndNotStartWithoutIt() throws Exception {
    Files.createDirectories(root.resolve("proc/self"));
    Path limits = root.resolve("proc/self/limits");
    Files.writeString(limits, "Max locked memory         67108864             67108864   bytes\n");
    assertThat(runOn(List.of(CARD))).isEqualTo(2);
    assertThat(errors.toString())
        .hasLineCount(1)
        .contains("may lock 65536 KiB", "3072 MiB are needed", "--quick, which needs 64 MiB");
    assertThat(runOn(List.of(CARD), "--quick")).isZero();
    assertThat(programs.tests.get(0)).hasSize(3).allMatch(name -> name.contains("OnCard/"));
    Files.writeString(root.resolve("proc/self/status"), "CapEff:\t0000000000004000\n");
    assertThat(runOn(List.of(CARD))).isZero();
    // In a user namespace of its own, where the kernel does not accept it.
    Files.writeString(root.resolve("proc/self/uid_map"), "0 1000 1\n");
    assertThat(runOn(List.of(CARD))).isEqualTo(2);
  }

  @Test
  void shouldRunTheSelectedCases() throws Exception {
    assertThat(runOn(List.of(CARD), "mlx5_0", "--cases", "Reads,Sends#shouldSendBothWaysAtOnce"))
        .isZero();
    String suite = "org.sparkrdma.verbs.ibverbs.IbverbsVerbsContractOnCard";
    assertThat(programs.tests)
        .containsExactly(List.of(suite + "/Reads", suite + "/Sends#shouldSendBothWaysAtOnce"));
    assertThat(out.toString()).doesNotContain("status.csv");
    JsonNode report = readReport();
    assertThat(report.at("/suite/complete").asBoolean()).isFalse();
    assertThat(report.at("/suite/selected/1").asText()).isEqualTo("Sends#shouldSendBothWaysAtOnce");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          echo tests: 1; echo 'FAILED  A#Reads.shouldRead() 3 ms'; exit 1     | true
          echo tests: 2; echo 'passed  A#Reads.shouldRead() 3 ms'; exit 134   | true
          echo Error: Could not find or load main class; exit 1               | true
          echo tests: 1; echo 'SKIPPED A#Reads.shouldRead(): no'; exit 1      | true
          echo tests: 1; echo 'passed  A#Reads.shouldRead() 3 ms'             | false
          """)
  void shouldFailWhenACaseOrTheTransferFailed(String suite, boolean transfer) throws Exception {
    FakePrograms failing = new FakePrograms(suite, transfer ? FakePrograms.FIGURES : "exit 3");
    String[] arguments = Stream.concat(Stream.of("mlx5_0"), report()).toArray(String[]::new);
    assertThat(run(() -> List.of(CARD), failing, arguments)).isEqualTo(1);
    assertThat(out.toString()).contains("Not everything passed.");
    assertThat(readReport().at("/passed").asBoolean()).isFalse();
    assertThat(readReport().at("/loop/error").asText())
        .isEqualTo(transfer ? "" : "perf client ended with exit code 3");
  }

  /** A process that waits for another one, so that both have to be killed. */
  @Test
  void shouldKillASuiteThatHangs() throws Exception {
    FakePrograms hanging =
        new FakePrograms(
            "echo tests: 3; echo 'passed  A#Reads.shouldRead() 3 ms'; sleep 600 & echo $! >"
                + root.resolve("pid")
                + "; wait",
            "sleep 600");
    List<String> lines = Collections.synchronizedList(new ArrayList<>());
    SuiteRun run = new SuiteRun(lines::add);
    Instant end = Instant.now().plusSeconds(5);
    run.run(hanging, FakeDevices.card(), "mlx5_core", List.of(), end);
    assertThat(run.passed()).isFalse();
    assertThat(run.notRun()).isEqualTo(2);
    assertThat(run.cases()).hasSize(1);
    assertThat(Transfer.measure(hanging, FakeDevices.card(), end).error()).contains("time limit");
    assertThat(lines).anyMatch(line -> line.contains("was killed"));
    Path started = Path.of("/proc", Files.readString(root.resolve("pid")).strip(), "stat");
    // Until the time limit of the test.
    while (isAlive(started)) {
      Thread.onSpinWait();
    }
  }

  /** A killed process stays as a zombie until its new parent takes its exit code. */
  private static boolean isAlive(Path stat) {
    try {
      return !Files.readString(stat).contains(") Z ");
    } catch (IOException e) {
      return false;
    }
  }
}
