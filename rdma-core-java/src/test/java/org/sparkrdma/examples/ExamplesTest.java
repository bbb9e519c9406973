// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.contract.PeerProcess;

/** Runs both ends of the examples on the soft engine, as docs/verbs.md does. */
@Timeout(120)
class ExamplesTest {
  @TempDir private Path folder;

  @Test
  void shouldReadAFile() throws Exception {
    byte[] content = new byte[(5 << 20) / 2 + 7];
    new Random(5).nextBytes(content);
    Path file = Files.write(folder.resolve("FILE"), content);
    Path copy = folder.resolve("COPY");
    Process server = start(ReadFile.class, "server", "soft", "127.0.0.1:0", file.toString());
    try {
      BufferedReader served = server.inputReader();
      String address = served.readLine().replaceFirst("listening at .*:", "127.0.0.1:");

      Process client = start(ReadFile.class, "client", "soft", address, copy.toString());
      assertThat(client.inputReader().lines()).containsExactly("read bytes: " + content.length);
      assertThat(served.readLine()).isEqualTo("served " + content.length + " bytes");
      assertThat(copy).hasBinaryContent(content);
    } finally {
      server.destroy();
    }
  }

  @Test
  void shouldSendANumberToAndFro() throws Exception {
    Process server = start(PingPong.class, "server", "soft", "127.0.0.1:0");
    try {
      BufferedReader served = server.inputReader();
      String address = served.readLine().replaceFirst("listening at .*:", "127.0.0.1:");

      Process client = start(PingPong.class, "client", "soft", address);
      assertThat(client.inputReader().lines()).containsExactly("sent 2000");
      assertThat(client.waitFor()).isZero();
      assertThat(served.readLine()).isEqualTo("sent 1999");
      assertThat(server.waitFor()).isZero();
    } finally {
      server.destroy();
    }
  }

  /** The page shows all that the program does with the device, and nothing else. */
  @Test
  void shouldShowThePingPongAsItRuns() throws IOException {
    String source = Files.readString(Path.of("src/test/java/org/sparkrdma/examples/PingPong.java"));
    int first = source.indexOf("    try (");
    String shown = source.substring(first, source.indexOf("\n  }\n", first)).stripIndent();
    assertThat(Path.of("../docs/verbs.md")).content().contains("```java\n" + shown + "\n```\n");
  }

  private static Process start(Class<?> program, String... arguments) throws IOException {
    return PeerProcess.java(List.of(), program, List.of(arguments));
  }
}
