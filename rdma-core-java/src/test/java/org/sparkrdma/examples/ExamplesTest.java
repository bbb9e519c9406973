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
    Files.write(folder.resolve("FILE"), content);
    Process server = start("server", "127.0.0.1:0", "FILE");
    try {
      BufferedReader served = server.inputReader();
      String address = served.readLine().replaceFirst("listening at .*:", "127.0.0.1:");

      Process client = start("client", address, "COPY");
      assertThat(client.inputReader().lines()).containsExactly("read bytes: " + content.length);
      assertThat(served.readLine()).isEqualTo("served " + content.length + " bytes");
      assertThat(folder.resolve("COPY")).hasBinaryContent(content);
    } finally {
      server.destroy();
    }
  }

  @Test
  void shouldSendANumberToAndFro() throws Exception {
    Process server = startPingPong("server", "0");
    try {
      BufferedReader served = server.inputReader();
      String port = served.readLine().replaceFirst("listening at .*:", "");

      Process client = startPingPong("client", port);
      assertThat(client.inputReader().lines()).singleElement().asString().startsWith("sent 2000,");
      assertThat(client.waitFor()).isZero();
      assertThat(served.readLine()).startsWith("sent 1999,");
      assertThat(server.waitFor()).isZero();
    } finally {
      server.destroy();
    }
  }

  private static Process startPingPong(String end, String port) throws IOException {
    return PeerProcess.java(List.of(), PingPong.class, List.of(end, "soft", "127.0.0.1", port));
  }

  /** The lines that the page shows are those of the program. */
  @Test
  void shouldShowTheLoopOfThePingPong() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "verbs.md"));
    int first = page.indexOf("```java\n") + "```java\n".length();
    String shown = page.substring(first, page.indexOf("```", first));
    Path source = Path.of("src", "test", "java", "org", "sparkrdma", "examples", "PingPong.java");
    assertThat(shown).contains("postSend");
    assertThat(Files.readAllLines(source).stream().map(String::strip))
        .containsAll(shown.lines().map(String::strip).toList());
  }

  private Process start(String end, String address, String file) throws IOException {
    List<String> arguments = List.of(end, "soft", address, folder.resolve(file).toString());
    return PeerProcess.java(List.of(), ReadFile.class, arguments);
  }
}
