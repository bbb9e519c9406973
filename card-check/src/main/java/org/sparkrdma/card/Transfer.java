// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures READ and TCP by the command {@code perf} of the plug-in's jar: between two processes of
 * this host, and with another host. Confined to the thread of the command.
 */
final class Transfer {
  /** The lengths of the columns in docs/cards.md. */
  static final String SIZES = "4k,64k,1m";

  private static final String NOT_RUN = "not run, because the time limit was reached";
  private static final Pattern PORT = Pattern.compile("\"port\": ?(\\d+)");
  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Programs programs;
  private final CardDevice card;
  private final TimeLimit limit;
  private final Consumer<String> output;

  /**
   * @param output receives lines for the user
   */
  Transfer(Programs programs, CardDevice card, TimeLimit limit, Consumer<String> output) {
    this.programs = programs;
    this.card = card;
    this.limit = limit;
    this.output = output;
  }

  /** Measures between two processes on this device. */
  TransferResult ownLoop() throws IOException, InterruptedException {
    if (limit.left().isZero()) {
      return TransferResult.failed(NOT_RUN);
    }
    Path settings = settings();
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    List<String> server = command(settings, "perf", "server", "--port", "0", "--json");
    server.addAll(List.of("--listen-for", Long.toString(limit.left().toSeconds() + 1)));
    try (ChildProcess process =
        ChildProcess.start(programs.plugin(server), Map.of(), lines::add, output)) {
      String address = card.address().getHostAddress();
      Matcher port = PORT.matcher(firstLine(process, lines));
      return port.find()
          ? client(settings, hostPort(address, port.group(1)))
          : TransferResult.failed("perf server does not listen");
    } finally {
      Files.delete(settings);
    }
  }

  /**
   * Measures with a host where {@code perf server} runs.
   *
   * @param peer its address, or HOST:PORT
   */
  TransferResult peer(String peer) throws IOException, InterruptedException {
    if (limit.left().isZero()) {
      return TransferResult.failed(NOT_RUN);
    }
    Path settings = settings();
    try {
      return client(settings, peer);
    } finally {
      Files.delete(settings);
    }
  }

  private String hostPort(String host, String port) {
    return card.address() instanceof Inet6Address ? "[" + host + "]:" + port : host + ":" + port;
  }

  private String firstLine(ChildProcess process, BlockingQueue<String> lines)
      throws InterruptedException {
    long endNs = System.nanoTime() + START_LIMIT.toNanos();
    String line = null;
    while (line == null && System.nanoTime() < endNs && (process.isAlive() || !lines.isEmpty())) {
      line = lines.poll(100, TimeUnit.MILLISECONDS);
    }
    return line == null ? "" : line;
  }

  private TransferResult client(Path settings, String peer)
      throws IOException, InterruptedException {
    List<String> json = Collections.synchronizedList(new ArrayList<>());
    List<String> client = command(settings, "perf", "client", peer, "--json", "--sizes", SIZES);
    try (ChildProcess process =
        ChildProcess.start(programs.plugin(client), Map.of(), json::add, output)) {
      OptionalInt code = process.await(limit.left());
      if (code.isEmpty()) {
        return TransferResult.failed("perf client did not end within the time limit");
      }
      return code.getAsInt() == 0
          ? TransferResult.of(String.join("\n", json))
          : TransferResult.failed("perf client ended with exit code " + code.getAsInt());
    }
  }

  private List<String> command(Path settings, String... words) {
    List<String> command = new ArrayList<>(List.of(words));
    command.addAll(
        List.of("--conf", settings.toString(), "--host", card.address().getHostAddress()));
    return command;
  }

  /** The file of settings with which the plug-in chooses this device and address. */
  private Path settings() throws IOException {
    InetAddress address = card.address();
    return Files.writeString(
        Files.createTempFile("card-", ".conf"),
        """
        spark.shuffle.manager org.sparkrdma.shuffle.RdmaShuffleManager
        spark.shuffle.rdma.engine %s
        spark.shuffle.rdma.device %s
        spark.shuffle.rdma.listen.address %s
        spark.shuffle.rdma.fabric.trusted true
        """
            .formatted(IbverbsDevices.ENGINE, card.name(), address.getHostAddress()));
  }
}
