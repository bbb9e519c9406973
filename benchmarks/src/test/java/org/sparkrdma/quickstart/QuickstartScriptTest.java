// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Script;
import org.sparkrdma.launch.Script.Outcome;

@Timeout(60)
class QuickstartScriptTest {
  @TempDir private Path directory;

  @Test
  void shouldReportInOneSentenceThatJavaHomeHasNoJava() throws Exception {
    Outcome outcome = run(Map.of("JAVA_HOME", directory.toString()));
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.output())
        .isEqualTo(
            "quickstart: JAVA_HOME is %s, which has no bin/java: set it to a JDK of 17 or newer.%n"
                .formatted(directory));
  }

  @Test
  void shouldReportInOneSentenceThatTheJavaIsTooOld() throws Exception {
    fakeJava("1.8");
    Outcome outcome = run(Map.of("JAVA_HOME", directory.toString()));
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.output())
        .startsWith("quickstart: Java 8 in /opt/old is too old:")
        .hasLineCount(1);
  }

  @Test
  void shouldReportInOneSentenceThatTheJavaCannotCompile() throws Exception {
    fakeJava("21");
    Outcome outcome = run(Map.of("JAVA_HOME", directory.toString()));
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.output())
        .startsWith("quickstart: /opt/old is a Java runtime without a compiler:")
        .hasLineCount(1);
  }

  private void fakeJava(String version) throws IOException {
    Path java = Files.createDirectory(directory.resolve("bin")).resolve("java");
    Files.writeString(
        java,
        """
        #!/bin/sh
        echo "    java.home = /opt/old"
        echo "    java.specification.version = %s"
        """
            .formatted(version));
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
  }

  private static Outcome run(Map<String, String> variables, String... arguments)
      throws IOException, InterruptedException {
    String[] command = new String[arguments.length + 1];
    command[0] = "quickstart";
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return Script.run(variables, command);
  }
}
