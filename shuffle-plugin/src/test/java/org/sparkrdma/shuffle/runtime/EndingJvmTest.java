// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
@Timeout(120)
class EndingJvmTest {
  @TempDir private Path directory;

  @Test
  void shouldRefuseNoBlockWhenTheProcessEndsWhileItsDeviceHangs() throws Exception {
    Path out = directory.resolve("out");
    List<String> command = JvmCommand.of(EndingJvm.class, List.of());
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    assertThat(process.waitFor(100, TimeUnit.SECONDS)).as("it ends").isTrue();
    assertThat(Files.readString(out)).contains("answered=true refused=0 state=STOPPED");
  }
}
