// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The archive for owners of cards, unpacked in a guest, whose soft devices stand in for a card: it
 * runs {@code IbverbsVerbsContractOnCard} and {@code perf}.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(600)
final class CardIT {
  /** Unpacks the archive for every user; jar leaves out the permissions of files. */
  private static final String UNPACK =
      "cd /tmp && $JDK/bin/jar xf $ARCHIVE && chmod -R a+rX card-check && cd card-check && chmod 755 card; "
          + "export JAVA_HOME=$JDK CARD_JAVA_OPTIONS='$OPTIONS'; ";

  @TempDir private Path shared;

  private String script(String lines) {
    return (UNPACK + lines)
        .replace("$JDK", GuestJdk.home())
        .replace("$ARCHIVE", Build.property("it.card.archive"))
        .replace("$OPTIONS", GuestJdk.START_SOON);
  }

  private GuestResult run(String transport, String lines) throws Exception {
    GuestResult result =
        GuestTests.guest(transport, Duration.ofMinutes(9))
            .with("--share", shared.toString())
            .bash(script(lines));
    result.node(1).lines().forEach(System.out::println);
    assertThat(result.exitCode()).as(result.output()).isZero();
    return result;
  }

  private JsonNode report(String name) throws Exception {
    return new ObjectMapper().readTree(shared.resolve(name).toFile());
  }

  @Test
  void shouldRunTheWholeSuiteWithoutRootAndWriteAReportWithoutAddresses() throws Exception {
    GuestResult result =
        run(
            "rocev2",
            "./card nosuch0 2>&1; echo exit $?; "
                + (GuestTests.AS_NOBODY + "./card rxe0 --report /tmp/report.json; echo exit $?; ")
                + "cp /tmp/report.json $GUEST_SHARE/; ./card --facts --report $GUEST_SHARE/facts.json; "
                + "ip link set wire1 down; ./card rxe0 2>&1; echo exit $?");

    List<String> lines = result.node(1).lines();
    assertThat(lines.stream().filter(line -> line.startsWith("exit ")))
        .containsExactly("exit 2", "exit 0", "exit 2");
    assertThat(lines.stream().filter(line -> line.startsWith("card: ")))
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .isEqualTo(
                        "card: there is no RDMA device nosuch0 on this host; found: rxe0; give the name of one of these"),
            line -> assertThat(line).contains("device rxe0 has no active port (port 1 is DOWN)"));
    assertThat(lines)
        .anyMatch(line -> line.matches("3\\d/1\\d\\d passed .* ms"))
        .contains("Everything passed.");

    JsonNode report = report("report.json");
    assertThat(report.path("passed").asBoolean()).isTrue();
    assertThat(report.at("/device/driver").asText()).isEqualTo("rxe");
    assertThat(report.at("/device/network").asText()).isEqualTo("RoCE");
    assertThat(report.at("/device/firmware").asText()).isNotEmpty();
    assertThat(report.at("/system/kernel").asText()).matches("\\d+\\.\\d+.*");
    assertThat(report.at("/system/rdmaCore").asText()).matches("\\d+\\.\\d+");
    assertThat(report.at("/system/java").asText()).startsWith(GuestJdk.version() + ".");
    assertThat(report.at("/system/plugin").asText()).matches("0.*, commit \\w+.*");
    assertThat(report.at("/suite/complete").asBoolean()).isTrue();
    assertThat(report.at("/suite/passed").asInt()).isPositive();
    assertThat(report.path("cases").size())
        .isEqualTo(report.at("/suite/passed").asInt() + report.at("/suite/skipped").asInt());
    assertThat(report.at("/loop/rows")).hasSize(3);
    assertThat(report.at("/loop/rows/0/ratio").asDouble()).isPositive();
    assertThat(report.at("/loop/prices/registrations")).hasSize(3);
    assertThat(report.at("/loop/prices/postNs").asInt()).isPositive();
    assertThat(report.at("/loop/tuning").asText()).contains("a window costs");
    assertThat(Files.readString(shared.resolve("report.json")))
        .doesNotContain(
            "10.99.", "fd99", "node1", "127.0.0.1", "this-host", "address-1", "link-local-1");
    JsonNode all = report("facts.json");
    assertThat(all.path("kernel").asText()).startsWith("6.");
    assertThat(all.path("system").asText()).isNotEmpty().isNotEqualTo("unknown");
    assertThat(all.path("fileSystem").asText()).isNotEmpty();
    JsonNode facts = all.at("/devices/0");
    assertThat(facts.path("name").asText()).isEqualTo("rxe0");
    assertThat(facts.path("max_qp").asInt()).isPositive();
    for (String fact :
        List.of(
            "completionQueueWithChannel",
            "memoryForRemoteRead",
            "readOnlyFileForRemoteRead",
            "fileForRemoteRead")) {
      assertThat(facts.path(fact).asText()).as(fact).isEqualTo("yes");
    }
  }

  @Test
  @Tag("nightly")
  void shouldKillAHangingSuiteAtTheTimeLimitAndRunSelectedCasesOfIwarp() throws Exception {
    GuestResult result =
        run(
            "iwarp",
            "./card siw0 --cases Reads,Memory --report $GUEST_SHARE/selected.json; echo exit $?; "
                + "./card siw0 --cases Stress,Reads --minutes 1 --report $GUEST_SHARE/hang.json & "
                + "until suite=$(pgrep -f '[c]ontract.ContractMain'); do sleep 0.1; done; "
                + "kill -STOP $suite; wait $!; echo exit $?; "
                + "if pgrep -f '[c]ontract.ContractMain'; then echo still there; fi");

    List<String> lines = result.node(1).lines();
    assertThat(lines.stream().filter(line -> line.startsWith("exit ")))
        .containsExactly("exit 0", "exit 1");
    assertThat(lines)
        .anyMatch(line -> line.startsWith("The suite did not end within the time limit"))
        .doesNotContain("still there");
    JsonNode selected = report("selected.json");
    assertThat(selected.at("/device/network").asText()).isEqualTo("iWARP");
    assertThat(selected.at("/suite/complete").asBoolean()).isFalse();
    assertThat(selected.path("passed").asBoolean()).isTrue();
    assertThat(selected.at("/loop/rows")).hasSize(3);
    JsonNode hanging = report("hang.json");
    assertThat(hanging.path("passed").asBoolean()).isFalse();
    assertThat(hanging.at("/suite/notRun").asInt()).isPositive();
    assertThat(hanging.at("/loop/error").asText()).contains("time limit");
  }
}
