// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The start of RDMA in an executor that has few file descriptors free. A class of the JDK that is
 * initialised then would be unusable for the life of the JVM.
 */
@Tag("slow")
@Timeout(200)
class FewDescriptorsTest {
  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(ints = {4, 12, 40})
  void shouldStartRdmaOnceEnoughFileDescriptorsAreFree(int free) throws Exception {
    List<String> command =
        new ArrayList<>(List.of("bash", "-c", "ulimit -S -n 600; exec \"$@\"", "-"));
    // A JVM raises the limit to the hard one without this option.
    command.addAll(JvmCommand.of(FewDescriptorsJvm.class, List.of("-XX:-MaxFDLimit")));
    command.add(Integer.toString(free));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(90, TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(Files.readString(output))
        .contains("first state=RESTARTING")
        .contains("too few file descriptors are free")
        .contains("then state=UP mac=HmacSHA256")
        .doesNotContain("NoClassDefFoundError");
    assertThat(process.exitValue()).isZero();
  }
}
