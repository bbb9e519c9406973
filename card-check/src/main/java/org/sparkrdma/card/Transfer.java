// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.net.Inet6Address;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * RDMA READ and TCP between two processes of this host, measured by the command {@code perf} of the
 * plug-in's jar.
 *
 * @param rows an object for each length, with the rates of both and their ratio
 * @param prices numbers of registrations, posts and connections; empty after a failure
 * @param tuning what these mean for tuning; empty after a failure
 * @param error a sentence; empty after a measurement
 */
record Transfer(ArrayNode rows, JsonNode prices, String tuning, String error) {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Pattern PORT = Pattern.compile("\"port\": ?(\\d+)");

  private static Transfer failed(String sentence) {
    return new Transfer(JSON.createArrayNode(), JSON.createObjectNode(), "", sentence);
  }

  /** Measures until {@code end} at most. */
  static Transfer measure(Programs programs, CardDevice card, Instant end)
      throws IOException, InterruptedException {
    String address = card.address().getHostAddress();
    Path settings = settings(card, address);
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    List<String> common = List.of("--json", "--conf", settings.toString(), "--host", address);
    List<String> server = new ArrayList<>(List.of("perf", "server", "--port", "0"));
    server.addAll(common);
    try (ChildProcess process = new ChildProcess(programs.plugin(server), Map.of(), lines::add)) {
      String first = lines.poll(1, TimeUnit.MINUTES);
      Matcher port = PORT.matcher(first == null ? "" : first);
      if (!port.find()) {
        return failed(
            process.isAlive() ? "perf server does not name its port" : "perf server has ended");
      }
      String host = card.address() instanceof Inet6Address ? "[" + address + "]" : address;
      List<String> client = new ArrayList<>(List.of("perf", "client", host + ":" + port.group(1)));
      client.addAll(List.of("--sizes", "4k,64k,1m"));
      client.addAll(common);
      return client(programs.plugin(client), end);
    } finally {
      Files.delete(settings);
    }
  }

  private static Transfer client(List<String> command, Instant end)
      throws IOException, InterruptedException {
    List<String> json = Collections.synchronizedList(new ArrayList<>());
    try (ChildProcess process = new ChildProcess(command, Map.of(), json::add)) {
      OptionalInt code = process.await(end);
      if (code.isEmpty()) {
        return failed("perf client did not end within the time limit");
      }
      return code.getAsInt() == 0
          ? of(String.join("\n", json))
          : failed("perf client ended with exit code " + code.getAsInt());
    }
  }

  /** The file of settings with which the plug-in chooses this device and address. */
  private static Path settings(CardDevice card, String address) throws IOException {
    return Files.writeString(
        Files.createTempFile("card-", ".conf"),
        """
        spark.shuffle.manager org.sparkrdma.shuffle.RdmaShuffleManager
        spark.shuffle.rdma.engine %s
        spark.shuffle.rdma.device %s
        spark.shuffle.rdma.listen.address %s
        spark.shuffle.rdma.fabric.trusted true
        """
            .formatted(CardDevice.ENGINE, card.name(), address));
  }

  /** Takes the numbers, and no address, from the output of {@code perf client --json}. */
  static Transfer of(String json) {
    try {
      ArrayNode rows = JSON.createArrayNode();
      JsonNode report = JSON.readTree(json);
      for (JsonNode row : report.path("rows")) {
        long read = row.at("/read/bytesPerSecond").asLong();
        long tcp = row.at("/tcp/bytesPerSecond").asLong();
        rows.addObject()
            .put("bytes", row.path("bytes").asInt())
            .put("readBytesPerSecond", read)
            .put("tcpBytesPerSecond", tcp)
            .put("ratio", tcp > 0 ? Math.round(100.0 * read / tcp) / 100.0 : 0);
      }
      return rows.isEmpty()
          ? failed("perf printed no figures")
          : new Transfer(rows, report.path("prices"), report.path("tuning").asText(), "");
    } catch (IOException e) {
      return failed("perf printed no figures");
    }
  }

  /** The ratios as one text, or the error. */
  String ratios() {
    return error.isEmpty() ? String.join(", ", rows.findValuesAsText("ratio")) : "failed: " + error;
  }
}
