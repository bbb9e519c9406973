// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.tools.peer.RunningListener;

/** {@code perf}, both sides on the loopback engine. */
@Tag("slow")
@Timeout(60)
class PerfCommandTest {
  @TempDir private Path directory;
  private final StringWriter output = new StringWriter();
  private final StringWriter errors = new StringWriter();
  private String conf;

  @BeforeEach
  void writeSettings() throws IOException {
    Path file = directory.resolve("spark-defaults.conf");
    conf = Files.writeString(file, "spark.shuffle.rdma.engine soft\n").toString();
  }

  private int client(String peer, String... more) {
    String[] arguments = {"perf", "client", peer, "--conf", conf, "--host", "127.0.0.1"};
    String[] all = new String[arguments.length + more.length];
    System.arraycopy(arguments, 0, all, 0, arguments.length);
    System.arraycopy(more, 0, all, arguments.length, more.length);
    return run(all);
  }

  private int run(String... arguments) {
    return Commands.run(new PrintWriter(output, true), new PrintWriter(errors, true), arguments);
  }

  @Test
  void shouldMeasureReadsAndTcpOfEachSize() throws Exception {
    try (RunningListener server = new RunningListener()) {
      String peer = "127.0.0.1:" + server.port();
      assertThat(client(peer, "--json", "--sizes", "8,64k,1m", "--ms", "20"))
          .as(errors.toString())
          .isZero();
    }
    JsonNode report = new ObjectMapper().readTree(output.toString());
    assertThat(report.path("schema").asInt()).isEqualTo(1);
    assertThat(report.path("engine").asText()).isEqualTo("soft");
    assertThat(report.path("rows").findValuesAsText("bytes"))
        .containsExactly("8", "65536", "1048576");
    for (JsonNode row : report.path("rows")) {
      for (String way : new String[] {"read", "tcp"}) {
        assertThat(row.path(way).path("bytesPerSecond").asLong()).isPositive();
        assertThat(row.path(way).path("medianNs").asLong())
            .isPositive()
            .isLessThanOrEqualTo(row.path(way).path("p99Ns").asLong());
        // The clock of CPU time may stand still for a short time.
        assertThat(row.path(way).path("serverCpuNsPerGib").asLong(-1)).isNotNegative();
      }
    }
    JsonNode prices = report.path("prices");
    assertThat(prices.path("registrations").findValuesAsText("bytes"))
        .containsExactly("65536", "1048576", "16777216");
    for (JsonNode one : prices.path("registrations")) {
      for (String time : new String[] {"firstNs", "warmNs", "deregisterNs", "copyNs"}) {
        assertThat(one.path(time).asLong()).as(time).isPositive();
      }
    }
    for (String price : new String[] {"setUpNs", "postNs", "postOfFourNs"}) {
      assertThat(prices.path(price).asLong()).as(price).isPositive();
    }
    assertThat(prices.path("readsPerSecond").asDouble()).isPositive();
    assertThat(prices.path("readsAtOncePerSecond").asDouble()).isPositive();
    assertThat(report.path("tuning").asText()).isNotEmpty();
    assertThat(errors.toString()).isEmpty();
  }

  @Test
  void shouldSayWhatTheCostsMeanForTuning() throws Exception {
    try (RunningListener server = new RunningListener()) {
      assertThat(client("127.0.0.1:" + server.port(), "--sizes", "8", "--ms", "1")).isZero();
    }
    assertThat(output.toString())
        .containsPattern("\nREAD of 4 KiB, 16 in flight +[0-9]+[.][0-9]{3}\n")
        .contains("\nWhat this means for tuning: ");
  }

  private static String[] with(String[] arguments, String... more) {
    return Stream.of(arguments, more).flatMap(Stream::of).toArray(String[]::new);
  }

  @Test
  void shouldReportAServerThatEndsTheConnection() throws Exception {
    try (RunningListener real = new RunningListener();
        ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int realPort = real.port();
      Thread answer = new Thread(() -> repeatAnnouncement(other, realPort), "perf-answer");
      answer.start();
      assertThat(client("127.0.0.1:" + other.getLocalPort(), "--ms", "10"))
          .isEqualTo(Commands.NOT_USABLE);
      answer.join();
    }
    assertThat(errors.toString())
        .hasLineCount(1)
        .contains("has ended", "start there, ", "perf server");
  }

  /** Passes on the real server's line and ends the connection. */
  private static void repeatAnnouncement(ServerSocket server, int realPort) {
    try (Socket client = server.accept();
        Socket real = new Socket(InetAddress.getLoopbackAddress(), realPort)) {
      StringBuilder line = new StringBuilder();
      int next = real.getInputStream().read();
      while (next != '\n') {
        line.append((char) next);
        next = real.getInputStream().read();
      }
      client.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldServeAMeasurementThatTakesLongerThanTheServerListens() throws Exception {
    StringWriter listening = new StringWriter();
    String[] server = {"perf", "server", "--port=0", "--listen-for=1", "--host=127.0.0.1"};
    String[] arguments = with(server, "--conf", conf, "--json");
    PrintWriter out = new PrintWriter(listening, true);
    FutureTask<Integer> served =
        new FutureTask<>(() -> Commands.run(out, new PrintWriter(errors, true), arguments));
    new Thread(served, "perf-server").start();
    while (!listening.toString().endsWith("\n")) {
      Thread.onSpinWait();
    }
    int port = new ObjectMapper().readTree(listening.toString()).path("port").asInt();

    assertThat(client("127.0.0.1:" + port, "--sizes", "8,64k,1m", "--ms", "700"))
        .as(errors.toString())
        .isZero();
    assertThat(served.get()).isZero();
    assertThat(errors.toString()).isEmpty();
  }
}
