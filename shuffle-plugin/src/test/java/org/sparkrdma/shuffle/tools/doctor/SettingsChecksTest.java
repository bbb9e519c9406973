// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.links.AlteredSpark;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/** Checks of Spark's settings. */
class SettingsChecksTest {
  private static final String PREFIX = "spark.shuffle.rdma.";

  @TempDir private Path root;
  private FakeMachine machine;

  @BeforeEach
  void create() {
    machine =
        new FakeMachine(root)
            .setting("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager");
  }

  @Test
  void shouldFindAllMistakesOfOneFileAtOnce() throws IOException {
    Path file =
        Files.writeString(
            root.resolve("spark-defaults.conf"),
            """
            # of this cluster
            spark.shuffle.manager   org.sparkrdma.shuffle.RdmaShuffleManager
            spark.shuffle.rdma.pined.max  1g
            spark.shuffle.rdma.mode=sometimes
            spark.shuffle.rdma.connections.max  many
            spark.shuffle.rdma.recvQueueDepth  5s
            other.key  x
            """);
    machine.conf(file);
    assertThat(machine.findings(SettingsCheck::run))
        .satisfiesExactlyInAnyOrder(
            text ->
                assertThat(text)
                    .startsWith(
                        "PROBLEM bad setting: key=spark.shuffle.rdma.connections.max value=many")
                    .contains("allowed=a whole number from 1 to"),
            text ->
                assertThat(text)
                    .startsWith("PROBLEM bad setting: key=spark.shuffle.rdma.mode value=sometimes")
                    .contains("allowed=auto, required, off. The driver refuses to start"),
            text ->
                assertThat(text)
                    .startsWith("PROBLEM unknown setting: key=spark.shuffle.rdma.pined.max")
                    .contains("pined.max allowed=docs/configuration.md"),
            text ->
                assertThat(text)
                    .startsWith("NOTE spark.shuffle.rdma.recvQueueDepth has no effect: "));
    assertThat(machine.report().reasons()).hasSizeGreaterThanOrEqualTo(3);
  }

  @Test
  void shouldNameTheSparkAndWhatItLacks() throws IOException {
    assertThat(machine.findings(SparkCheck::run))
        .singleElement()
        .asString()
        .startsWith("OK Spark 4.2.0 in the class path has all");
    String type = "org.apache.spark.shuffle.sort.SortShuffleManager";
    try (AlteredSpark vendors = new AlteredSpark(type, AlteredSpark.Change.RENAMED)) {
      assertThat(SparkCheck.findings("/opt/spark", vendors))
          .filteredOn(finding -> finding.level() == Level.PROBLEM)
          .singleElement()
          .satisfies(
              finding ->
                  assertThat(finding.message())
                      .startsWith("Spark 4.2.0 lacks or has changed " + type + ".")
                      .endsWith(": RDMA is not used."));
    }
  }

  @Test
  void shouldLetSettingsOfSparkSubmitWin() throws IOException {
    Path file = Files.writeString(root.resolve("c"), "spark.a=file\nspark.b=file\n");
    Properties system = new Properties();
    system.setProperty("spark.a", "submit");
    system.setProperty("java.home", "/");
    assertThat(SparkSettings.read(file, system).values())
        .containsOnlyKeys("spark.a", "spark.b")
        .containsEntry("spark.a", "submit");
  }

  @Test
  void shouldReportAnotherManagerAsAProblem() {
    machine.setting("spark.shuffle.manager", "sort");
    assertThat(machine.findings(SettingsCheck::run))
        .containsExactly(
            "PROBLEM spark.shuffle.manager is not org.sparkrdma.shuffle.RdmaShuffleManager. | set"
                + " spark.shuffle.manager=org.sparkrdma.shuffle.RdmaShuffleManager");
    assertThat(machine.report().summary())
        .startsWith("RDMA will not be used: spark.shuffle.manager is not org.sparkrdma");
  }

  /** Another manager keeps its place with spark.plugins, and its files may be plain. */
  @Test
  void shouldRefuseBesideAnotherManagerWhatDriverAndExecutorsRefuse() {
    machine.setting("spark.plugins", "org.sparkrdma.shuffle.RdmaPlugin");
    machine.setting("spark.shuffle.manager", "org.example.OtherManager");
    assertThat(machine.findings(SettingsCheck::run)).allMatch(text -> text.startsWith("OK "));
    machine.setting(PREFIX + "mode", "required");
    machine.setting("spark.ssl.rpc.enabled", "true").setting("spark.io.encryption.enabled", "true");
    assertThat(machine.report().reasons())
        .anyMatch(text -> text.startsWith(PREFIX + "mode=required is possible only with"))
        .anyMatch(text -> text.startsWith("Spark encrypts its network, and files of this manager"));
    machine.setting("spark.shuffle.manager", "Tungsten-Sort");
    assertThat(machine.findings(SettingsCheck::run))
        .singleElement()
        .asString()
        .startsWith("PROBLEM " + PREFIX + "mode=required is possible only with");
    machine.setting("spark.shuffle.manager", "");
    assertThat(machine.findings(SettingsCheck::run))
        .singleElement()
        .asString()
        .startsWith("NOTE The driver of Spark 3.5 refuses to start: " + PREFIX + "mode=required");
  }

  @Test
  void shouldReportThatEncryptionForbidsRdma() {
    machine.setting("spark.network.crypto.enabled", "true");
    assertThat(machine.findings(SettingsCheck::run))
        .first()
        .asString()
        .startsWith("PROBLEM spark.network.crypto.enabled=true asks for encryption");
    assertThat(machine.report().reasons()).first().asString().contains("network.crypto");
    machine.setting("spark.io.encryption.enabled", "true").setting("spark.authenticate", "true");
    assertThat(machine.findings(SettingsCheck::run)).allMatch(text -> text.startsWith("OK "));
  }
}
