// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Local directories, with a device that registers files in them and without one. */
class LocalDirectoriesCheckTest {
  private static final String ENDS =
      " and leaves it out; without another directory an executor ends. | ";
  private static final String REMEDY =
      "name another directory in spark.local.dir (SPARK_LOCAL_DIRS";

  @TempDir private Path root;
  @TempDir private Path directory;
  private FakeMachine machine;

  @BeforeEach
  void create() {
    machine = new FakeMachine(root);
  }

  @Test
  void shouldReportTheFileSystemWithoutADevice() {
    assertThat(finding(directory))
        .isEqualTo(
            "NOTE "
                + directory
                + " is on ext4. No file was registered there: no device was opened, or blocks are"
                + " always copied. | run this again when a device can be used; with"
                + " spark.shuffle.rdma.serve=copy, nothing");
  }

  @Test
  void shouldReportWhetherADeviceRegisteredAFile() {
    machine.registered(Map.of(directory, Optional.empty()));
    assertThat(finding(directory))
        .isEqualTo("OK " + directory + " is on ext4. A file there was registered. | nothing");
    machine.registered(Map.of(directory, Optional.of("the reason")));
    assertThat(finding(directory))
        .isEqualTo(
            "WARNING "
                + directory
                + " is on ext4. Files there are not registered, so blocks are copied: the reason |"
                + " use ext4 or xfs for spark.local.dir");
  }

  @Test
  void shouldNoteThatSparkCreatesAMissingDirectory() {
    Path missing = directory.resolve("a/b");
    assertThat(finding(missing))
        .isEqualTo(
            "NOTE "
                + missing
                + " does not exist. Spark creates it, on ext4. | nothing, unless the name is"
                + " mistyped");
    assertThat(machine.report().reasons()).noneMatch(reason -> reason.contains("directories"));
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldRefuseAFile() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertThat(finding(file))
        .startsWith(
            "PROBLEM " + file + " is not a directory. Spark cannot write there" + ENDS + REMEDY);
    assertThat(finding(file.resolve("a")))
        .startsWith(
            "PROBLEM "
                + file
                + " is not a directory. Spark cannot create "
                + (file + "/a" + ENDS + REMEDY));
  }

  @Test
  void shouldRefuseADirectoryThatTakesNoFilesAlsoWhereADeviceReportsARefusal() {
    machine.registered(Map.of(Path.of("/proc"), Optional.of("not this")));
    assertThat(finding(Path.of("/proc")))
        .startsWith("PROBLEM ")
        .contains(" in /proc", "Spark cannot write there" + ENDS, REMEDY)
        .doesNotContain("not this", "Exception", "java.");
  }

  @Test
  void shouldGiveTheReasonAgainstRdmaOnlyWhereNoDirectoryIsLeft() {
    String reason = "Spark can write in none of its local directories";
    machine.setting("spark.local.dir", "/proc");
    assertThat(machine.report().reasons()).contains(reason);
    machine.setting("spark.local.dir", "/proc," + directory);
    assertThat(machine.report().reasons()).doesNotContain(reason);
  }

  @Test
  void shouldNameADirectoryThatIsNoPathForThisJvm() {
    String name = "/a\0b";
    machine.setting("spark.local.dir", name + "," + directory);
    assertThat(machine.findings(LocalDirectoriesCheck::run))
        .satisfiesExactly(
            first ->
                assertThat(first)
                    .startsWith(
                        "PROBLEM The local directory "
                            + name
                            + " cannot be tested: its name has a NUL character. | set the same"
                            + " locale"),
            second -> assertThat(second).startsWith("NOTE " + directory + " is on ext4."));
  }

  @Test
  void shouldWarnOfAnEmptySetting() {
    machine.setting("spark.local.dir", " ,");
    assertThat(machine.findings(LocalDirectoriesCheck::run))
        .singleElement()
        .asString()
        .startsWith("WARNING The setting of local directories is empty. | remove it");
  }

  private String finding(Path of) {
    return machine
        .setting("spark.local.dir", of.toString())
        .findings(LocalDirectoriesCheck::run)
        .get(0);
  }
}
