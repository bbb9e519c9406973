// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs both ends of the example on the soft engine. */
@Timeout(120)
class ExamplesTest {
  private static final Pattern PORT = Pattern.compile("listening at \\S*:(\\d+)");

  @TempDir private Path folder;
  private CompletableFuture<Void> server;

  /** Standard output of one end; completes a future when the end listens. */
  private static final class Output {
    private final CompletableFuture<Integer> port = new CompletableFuture<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream stream =
        new PrintStream(bytes, true, StandardCharsets.UTF_8) {
          @Override
          public void println(String line) {
            super.println(line);
            PORT.matcher(line)
                .results()
                .forEach(found -> port.complete(Integer.valueOf(found.group(1))));
          }
        };

    String text() {
      return bytes.toString(StandardCharsets.UTF_8);
    }
  }

  @AfterEach
  void awaitServer() throws Exception {
    if (server != null) {
      server.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void shouldReadAFile() throws Exception {
    byte[] content = new byte[(5 << 20) / 2 + 7];
    new Random(5).nextBytes(content);
    Files.write(folder.resolve("FILE"), content);

    Output out = startServer();
    assertThat(runClient(out)).isEqualTo("read bytes: " + content.length);
    awaitServer();
    assertThat(out.text()).contains("served " + content.length + " bytes");
    assertThat(folder.resolve("COPY")).hasBinaryContent(content);
  }

  private Output startServer() throws Exception {
    Output out = new Output();
    String[] arguments = arguments("server", 0);
    server =
        CompletableFuture.runAsync(
            () -> {
              try {
                ReadFile.run(arguments, out.stream);
              } catch (Exception e) {
                out.port.completeExceptionally(e);
                throw new IllegalStateException(e);
              }
            },
            work -> new Thread(work, "example-server").start());
    out.port.get(60, TimeUnit.SECONDS);
    return out;
  }

  private String runClient(Output server) throws Exception {
    Output out = new Output();
    ReadFile.run(arguments("client", server.port.get()), out.stream);
    return out.text().strip();
  }

  private String[] arguments(String end, int port) {
    Path file = folder.resolve(end.equals("server") ? "FILE" : "COPY");
    return new String[] {end, "soft", "127.0.0.1:" + port, file.toString()};
  }
}
