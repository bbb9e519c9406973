// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
@Timeout(400)
class EndingJvmTest {
  @TempDir private Path directory;

  @Test
  void shouldRefuseNoBlockWhenTheProcessEndsWhileItsDeviceHangs() throws Exception {
    Path out = directory.resolve("out");
    List<String> command = JvmCommand.of(EndingJvm.class, List.of());
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    // It takes 4 s, and half a minute beside twelve processes that compute.
    boolean ended = process.waitFor(300, TimeUnit.SECONDS);
    process.destroyForcibly();
    String printed = Files.readString(out);
    assertThat(ended).as("it ends: %s", printed).isTrue();
    assertThat(printed).contains("answered=50 refused=0 state=STOPPED");
    // The hooks of Spark that follow wait for it, within the grace period of a container.
    Matcher close = Pattern.compile("closeMs=(\\d+)").matcher(printed);
    assertThat(close.find()).as(printed).isTrue();
    assertThat(Long.parseLong(close.group(1)))
        .as("it does not wait for the device")
        .isLessThan(EndingJvm.CLOSE_LIMIT.toMillis());
  }
}
