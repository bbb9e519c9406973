// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
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

  private static Outcome run(Map<String, String> variables, String... arguments)
      throws IOException, InterruptedException {
    String[] command = new String[arguments.length + 1];
    command[0] = "quickstart";
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return Script.run(variables, command);
  }
}
