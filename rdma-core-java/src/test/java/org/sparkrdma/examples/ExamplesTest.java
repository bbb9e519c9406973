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

/** Runs both ends of the example on the soft engine, as docs/verbs.md does. */
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

  private Process start(String end, String address, String file) throws IOException {
    List<String> arguments = List.of(end, "soft", address, folder.resolve(file).toString());
    return PeerProcess.java(List.of(), ReadFile.class, arguments);
  }
}
