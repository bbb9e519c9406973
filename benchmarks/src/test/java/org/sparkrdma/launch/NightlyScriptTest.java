// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Script.Outcome;

/** The script that starts all nightly tests, with a build that only prints its arguments. */
@Timeout(60)
class NightlyScriptTest {
  private static final String SCRIPT = ".ci/nightly";

  @TempDir private Path directory;

  @Test
  void shouldRunTheOtherPartsAfterOneThatFails() throws Exception {
    build("echo build \"$@\"; [[ $* != *suites* ]] || exit 7");

    Outcome all = run();

    assertThat(all.exitCode()).isEqualTo(1);
    assertThat(all.output().lines().filter(line -> line.startsWith("build"))).hasSize(13);
    assertThat(all.output())
        .contains("nightly: suites failed with exit code 7", "nightly: guest passed")
        .endsWith("nightly: failed: suites\n");
  }

  @Test
  void shouldEndAPartAtItsLimitAndRunTheOthers() throws Exception {
    build("[[ $* != *Pfuzz* ]] || exec sleep 600");

    Outcome outcome = run("--limit", "2", "fuzz", "units");

    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.output())
        .contains("nightly: fuzz exceeded its limit of 2 s", "nightly: units passed")
        .endsWith("nightly: failed: fuzz\n");
  }

  private void build(String lines) throws IOException {
    Files.createDirectories(directory.resolve(".ci"));
    for (String script : List.of("mvnw", "bench", ".ci/bare", ".ci/release")) {
      Path file = Files.writeString(directory.resolve(script), "#!/bin/bash\n" + lines + "\n");
      assertThat(file.toFile().setExecutable(true)).isTrue();
    }
  }

  /** Runs a copy of the script, which changes into the folder above its own. */
  private Outcome run(String... arguments) throws Exception {
    Path copy = directory.resolve(SCRIPT);
    Files.createDirectories(copy.getParent());
    Files.copy(Path.of("..", SCRIPT), copy, StandardCopyOption.REPLACE_EXISTING);
    String[] command = new String[arguments.length + 1];
    command[0] = copy.toString();
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    return Script.run(Map.of(), command);
  }
}
