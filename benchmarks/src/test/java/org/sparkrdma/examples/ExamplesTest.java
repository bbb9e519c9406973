// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs both ends of each example on the soft engine. */
@Timeout(120)
class ExamplesTest {
  private static final Pattern PORT = Pattern.compile("listening at \\S*:(\\d+)");

  @TempDir private Path folder;
  private CompletableFuture<Void> server;

  private interface Example {
    void run(String[] arguments, PrintStream out) throws Exception;
  }

  private static final Map<String, Example> EXAMPLES =
      new TreeMap<>(
          Map.of(
              "PingPong", PingPong::run,
              "ReadFile", ReadFile::run,
              "WriteWithImmediate", WriteWithImmediate::run));

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
  void shouldPingAThousandTimes() throws Exception {
    Output out = startServer("PingPong");
    assertThat(runClient("PingPong", out)).startsWith("round trip of 1000 pings, median us: ");
    awaitServer();
    assertThat(out.text()).contains("answered 1000 pings");
  }

  @Test
  void shouldReadAFile() throws Exception {
    byte[] content = new byte[(5 << 20) / 2 + 7];
    new Random(5).nextBytes(content);
    Files.write(folder.resolve("FILE"), content);

    Output out = startServer("ReadFile");
    assertThat(runClient("ReadFile", out)).isEqualTo("read bytes: " + content.length);
    awaitServer();
    assertThat(out.text()).contains("served " + content.length + " bytes");
    assertThat(folder.resolve("COPY")).hasBinaryContent(content);
  }

  @Test
  void shouldWriteTextWithItsLength() throws Exception {
    Output out = startServer("WriteWithImmediate");
    assertThat(runClient("WriteWithImmediate", out)).isEqualTo("wrote bytes: 5");
    awaitServer();
    assertThat(out.text()).contains("received: hello");
  }

  @Test
  void shouldNameTheArguments() {
    assertThatThrownBy(() -> ReadFile.main(new String[] {"server", "soft", "127.0.0.1:0"}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("arguments: server ENGINE HOST:PORT FILE | client ENGINE HOST:PORT COPY");
  }

  @Test
  void shouldReportWhyThereIsNoDevice() {
    assertThatThrownBy(() -> PingPong.main(new String[] {"client", "disni", "127.0.0.1:1"}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("no RDMA device: disni: ");
  }

  private Output startServer(String example) throws Exception {
    Output out = new Output();
    String[] arguments = arguments(example, "server", 0);
    server =
        CompletableFuture.runAsync(
            () -> {
              try {
                EXAMPLES.get(example).run(arguments, out.stream);
              } catch (Exception e) {
                out.port.completeExceptionally(e);
                throw new IllegalStateException(e);
              }
            },
            work -> new Thread(work, "example-server").start());
    out.port.get(60, TimeUnit.SECONDS);
    return out;
  }

  private String runClient(String example, Output server) throws Exception {
    Output out = new Output();
    EXAMPLES.get(example).run(arguments(example, "client", server.port.get()), out.stream);
    return out.text().strip();
  }

  private String[] arguments(String example, String end, int port) {
    List<String> arguments = new ArrayList<>(List.of(end, "soft", "127.0.0.1:" + port));
    boolean server = end.equals("server");
    if (example.equals("ReadFile")) {
      arguments.add(folder.resolve(server ? "FILE" : "COPY").toString());
    } else if (example.equals("WriteWithImmediate") && !server) {
      arguments.add("hello");
    }
    return arguments.toArray(String[]::new);
  }
}
