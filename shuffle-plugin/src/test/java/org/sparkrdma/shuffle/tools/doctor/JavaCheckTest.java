// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The check of Java: its options, and the folder for the library of jffi. */
class JavaCheckTest extends FakeMachineFixture {
  @Test
  void shouldFindATemporaryFolderWithoutExecutableFiles() {
    assertThat(machine.findings(JavaCheck::run)).singleElement().asString().startsWith("OK ");
    machine.file(
        "proc/self/mountinfo",
        "22 1 0:18 / / rw - ext4 /dev/sda1 rw\n23 22 0:20 / /tmp rw,noexec - tmpfs tmpfs rw\n");
    assertThat(machine.findings(JavaCheck::run))
        .singleElement()
        .asString()
        .startsWith("PROBLEM Java 17.0.15")
        .contains("mounted noexec", "jffi.extract.dir")
        .contains(" in spark.executor.extraJavaOptions and spark.driver.extraJavaOptions, with");
    assertThat(machine.java("java.specification.version", "25").findings(JavaCheck::run))
        .singleElement()
        .asString()
        .contains("through java.lang.foreign");
  }

  @Test
  void shouldFindATemporaryFolderThatIsMissingOrTakesNoFiles() {
    String missing = root.resolve("missing").toString();
    assertThat(machine.java("java.io.tmpdir", missing).findings(JavaCheck::run))
        .singleElement()
        .asString()
        .startsWith("PROBLEM Java 17.0.15 calls the libraries through jffi, ")
        .contains("to " + missing + ". That folder does not exist. | set -Djffi.extract.dir=DIR");
    assertThat(machine.java("java.io.tmpdir", "/proc").findings(JavaCheck::run))
        .singleElement()
        .asString()
        .startsWith("PROBLEM Java 17.0.15 calls the libraries through jffi, ")
        .contains("to /proc. user=spark cannot write there: ");
    assertThat(root.resolve("missing")).doesNotExist();
    assertThat(machine.java("java.specification.version", "25").findings(JavaCheck::run))
        .singleElement()
        .asString()
        .startsWith("NOTE ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          21 | --none                                                           | OK
          22 | --none                                                           | NOTE
          25 | --enable-native-access=java.base                                 | NOTE
          25 | --enable-native-access=ALL-UNNAMED-NOT                           | NOTE
          25 | -Xms1g --enable-native-access=ALL-UNNAMED -Dany=1                | OK
          25 | --enable-native-access=java.base,ALL-UNNAMED                     | OK
          25 | --enable-native-access ALL-UNNAMED                               | OK
          """)
  void shouldFindExecutorsThatMayNotCallC(String version, String options, String level) {
    List<FakeMachine> machines =
        List.of(
            new FakeMachine(root).setting("spark.executor.extraJavaOptions", options),
            new FakeMachine(root).setting("spark.executor.defaultJavaOptions", options),
            new FakeMachine(root).variable("JDK_JAVA_OPTIONS", options),
            new FakeMachine(root).variable("JAVA_TOOL_OPTIONS", options));
    for (FakeMachine one : machines) {
      String finding =
          one.java("java.specification.version", version).findings(JavaCheck::run).get(0);
      assertThat(finding).startsWith(level + " Java ");
      assertThat(
              finding.contains(
                  "add --enable-native-access=ALL-UNNAMED to spark.executor.extraJavaOptions and"
                      + " spark.driver.extraJavaOptions; "))
          .isEqualTo(level.equals("NOTE"));
    }
  }
}
