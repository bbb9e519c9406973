// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.tools.doctor.Facts;
import org.sparkrdma.shuffle.tools.engines.ProbedDevice;
import org.sparkrdma.shuffle.tools.peer.CardPrices;
import org.sparkrdma.shuffle.tools.peer.PeerListener;
import org.sparkrdma.shuffle.tools.peer.PerfClient;
import org.sparkrdma.shuffle.tools.peer.PerfClient.Measurement;
import org.sparkrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures READ beside TCP between two hosts. */
@Command(
    name = "perf",
    description =
        "Measures RDMA READ through this library beside TCP, between a host with perf server and one"
            + " with perf client.",
    subcommands = {PerfCommand.Server.class, PerfCommand.Client.class},
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
final class PerfCommand implements Callable<Integer> {
  /** Default of the time for which a listener answers. */
  static final int DEFAULT_SECONDS = 600;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Missing command: server or client");
  }

  /** The side that is read from. */
  @Command(
      name = "server",
      description =
          "Answers perf client, and doctor --peer, of other hosts. Any host may read 1 MiB of test"
              + " data then.",
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Version.class)
  static final class Server implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private SettingsOptions options;

    @Option(
        names = "--port",
        paramLabel = "PORT",
        defaultValue = "" + PeerListener.DEFAULT_PORT,
        description = "TCP port, ${DEFAULT-VALUE} by default; 0 takes a free one.")
    private int port;

    @Option(
        names = "--listen-for",
        paramLabel = "SECONDS",
        defaultValue = "" + DEFAULT_SECONDS,
        description = "How long it answers; ${DEFAULT-VALUE} s by default.")
    private int seconds;

    @Override
    public Integer call() {
      return listen(spec, options, port, seconds);
    }
  }

  /**
   * Answers other hosts.
   *
   * @return the exit code
   */
  static int listen(CommandSpec spec, SettingsOptions options, int port, int seconds) {
    Commands.number(spec, "port", port, 0, HostPort.MAX_PORT);
    Commands.number(spec, "--listen-for", seconds, 1, Integer.MAX_VALUE);
    InetAddress host = options.sparkHost();
    PrintWriter out = spec.commandLine().getOut();
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    try (ProbedDevice device = ProbedDevice.open(options.shuffleSettings(), host);
        PeerListener listener = new PeerListener(device, port)) {
      Map<String, Object> facts = new LinkedHashMap<>();
      facts.put("schema", Commands.SCHEMA);
      facts.put("port", listener.port());
      facts.put("addresses", listener.addresses());
      String own = new HostPort(NetworkAddress.textForPeers(host), listener.port()).text();
      out.println(
          options.json()
              ? Json.of(facts).replaceAll("\\n *", " ")
              : String.format(
                  Locale.ROOT,
                  "Listening at TCP port %d, by RDMA at %s, for %d s. On another host: java -jar"
                      + " spark-rdma-shuffle.jar doctor --peer %s, or perf client %s",
                  listener.port(),
                  listener.addresses(),
                  seconds,
                  own,
                  own));
      out.flush();
      listener.serveUntil(endNs);
      return Commands.USABLE;
    } catch (VerbsException e) {
      return fail(spec, "RDMA cannot be used here: " + e.getMessage() + Commands.RUN_DOCTOR);
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "Cannot listen at TCP port " + port + ": " + e.getMessage(), e);
    }
  }

  private static int fail(CommandSpec spec, String sentence) {
    spec.commandLine().getErr().println(sentence);
    return Commands.NOT_USABLE;
  }

  /** The side that reads and measures. */
  @Command(
      name = "client",
      description =
          "Reads from a host with perf server, by RDMA READ and over TCP in turn, and prints speed,"
              + " time of a single transfer, and the CPU time of both processes.",
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Version.class)
  static final class Client implements Callable<Integer> {
    private static final double MIB = 1 << 20;
    private static final double MICROSECOND_NS = 1e3;
    private static final double SECOND_NS = 1e9;

    @Spec private CommandSpec spec;
    @Mixin private SettingsOptions options;

    @Parameters(
        paramLabel = "HOST[:PORT]",
        description = "Where perf server runs; an IPv6 address needs brackets.")
    private String peer;

    @Option(
        names = "--sizes",
        paramLabel = "LIST",
        split = ",",
        defaultValue = "8,4k,64k,1m",
        description = "Lengths of transfers, 1 to 1m bytes; ${DEFAULT-VALUE} by default.")
    private List<String> sizes;

    @Option(
        names = "--ms",
        paramLabel = "MILLISECONDS",
        defaultValue = "2000",
        description =
            "Time for the speed of each size, 1 to 30000 ms; ${DEFAULT-VALUE} by default.")
    private int durationMs;

    @Override
    public Integer call() {
      HostPort at = HostPort.parse(spec, peer);
      Commands.number(
          spec, "--ms", durationMs, 1, (int) TimeUnit.NANOSECONDS.toMillis(PerfClient.MAX_NS));
      List<Integer> lengths = new ArrayList<>();
      sizes.forEach(size -> lengths.add(bytes(size)));
      try (ProbedDevice device =
          ProbedDevice.open(options.shuffleSettings(), options.sparkHost())) {
        return measure(device, at, lengths);
      } catch (VerbsException e) {
        return fail(spec, "RDMA cannot be used here: " + e.getMessage() + Commands.RUN_DOCTOR);
      }
    }

    private int measure(ProbedDevice device, HostPort at, List<Integer> lengths) {
      try (PerfClient client = new PerfClient(device, at.host(), at.port())) {
        List<PerfClient.Row> rows = client.run(lengths, TimeUnit.MILLISECONDS.toNanos(durationMs));
        String engine = device.device().info().engine();
        String name = device.device().info().name();
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("schema", Commands.SCHEMA);
        facts.put("engine", engine);
        facts.put("device", name);
        facts.put("addresses", client.pair().toString());
        facts.put("milliseconds", durationMs);
        facts.put("rows", rows);
        CardPrices prices =
            client.prices(
                Facts.localDirectories(options.settings(), System.getenv()).stream()
                    .filter(Files::isWritable)
                    .findFirst()
                    .orElse(Path.of(System.getProperty("java.io.tmpdir"))),
                TimeUnit.MILLISECONDS.toNanos(durationMs));
        facts.put("prices", prices);
        facts.put("tuning", prices.advice());
        String head = "Engine " + engine + ", device " + name + ", RDMA " + client.pair();
        PrintWriter out = spec.commandLine().getOut();
        out.println(options.json() ? Json.of(facts) : table(head, rows) + prices(prices));
        out.flush();
        return Commands.USABLE;
      } catch (VerbsException e) {
        return fail(
            spec,
            "Peer "
                + peer
                + " is not reached by RDMA: "
                + e.getMessage()
                + "; what to do says: java -jar spark-rdma-shuffle.jar doctor --peer "
                + at.text());
      } catch (IOException e) {
        return fail(
            spec,
            "Peer "
                + peer
                + " "
                + e.getMessage()
                + "; start there, with the same jar: java -jar spark-rdma-shuffle.jar perf server,"
                + " and let a firewall pass its port");
      }
    }

    private int bytes(String size) {
      if (size.matches("[0-9]{1,7}[kKmM]?")) {
        char unit = Character.toLowerCase(size.charAt(size.length() - 1));
        long number = Long.parseLong(size.replaceAll("[kKmM]", ""));
        long bytes = unit == 'k' ? number << 10 : unit == 'm' ? number << 20 : number;
        if (bytes >= 1 && bytes <= PerfClient.MAX_BYTES) {
          return (int) bytes;
        }
      }
      throw Commands.wrongValue(spec, "--sizes " + size, "1 to 1m bytes, such as 8, 4k or 1m");
    }

    private static String table(String head, List<PerfClient.Row> rows) {
      StringBuilder text = new StringBuilder(head);
      text.append(
          "\n\n    bytes by         MiB/s    p50 us    p99 us   client s/GiB   server s/GiB\n");
      for (PerfClient.Row row : rows) {
        text.append(line(row.bytes(), "READ", row.read()));
        text.append(line(row.bytes(), "TCP", row.tcp()));
      }
      return text.append(
              """

              p50, p99: time of one transfer alone. s/GiB: CPU time of the whole process for each GiB; on a
              software device (soft, rxe, siw) part of the work is done by threads or a kernel that
              a card does not need.""")
          .toString();
    }

    /** One table in microseconds, and what it means. */
    private static String prices(CardPrices prices) {
      List<CardPrices.Registration> files = prices.registrations();
      StringBuilder text = new StringBuilder("\n\n");
      text.append(row("us", files.stream().map(file -> CardPrices.size(file.bytes()))));
      if (!files.isEmpty()) {
        text.append(row("file: registration of a new one", times(files, 0)));
        text.append(row("file: registration, not in the page cache", times(files, 1)));
        text.append(row("file: registration, in the page cache", times(files, 2)));
        text.append(row("file: deregistration", times(files, 3)));
        text.append(row("file: copy", times(files, 4)));
      }
      text.append(row("connection", Stream.of(us((double) prices.setUpNs()))));
      text.append(row("post of one thread", Stream.of(us((double) prices.postNs()))));
      text.append(
          row("post of each of four threads", Stream.of(us((double) prices.postOfFourNs()))));
      text.append(row("READ of 4 KiB", Stream.of(us(SECOND_NS / prices.readsPerSecond()))));
      text.append(
          row(
              "READ of 4 KiB, 16 in flight",
              Stream.of(us(SECOND_NS / prices.readsAtOncePerSecond()))));
      return text.append("What this means for tuning: " + prices.advice() + ".").toString();
    }

    private static Stream<String> times(List<CardPrices.Registration> files, int which) {
      return files.stream().map(file -> us((double) file.times()[which]));
    }

    private static String us(double ns) {
      return ns == 0 ? "-" : String.format(Locale.ROOT, "%.3f", ns / MICROSECOND_NS);
    }

    private static String row(String name, Stream<String> cells) {
      StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%-41s", name));
      cells.forEach(cell -> text.append(String.format(Locale.ROOT, " %11s", cell)));
      return text.append('\n').toString();
    }

    private static String line(int lengthBytes, String way, Measurement m) {
      return String.format(
          Locale.ROOT,
          "%9d %-5s %10.1f %9.1f %9.1f %14.3f %14.3f%n",
          lengthBytes,
          way,
          m.bytesPerSecond() / MIB,
          m.medianNs() / MICROSECOND_NS,
          m.p99Ns() / MICROSECOND_NS,
          m.clientCpuNsPerGib() / SECOND_NS,
          m.serverCpuNsPerGib() / SECOND_NS);
    }
  }
}
