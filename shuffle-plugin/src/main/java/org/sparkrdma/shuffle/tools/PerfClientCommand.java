// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.OpenDevice;
import org.sparkrdma.shuffle.tools.peer.NoListenerException;
import org.sparkrdma.shuffle.tools.peer.PeerCheck;
import org.sparkrdma.shuffle.tools.peer.PerfClient;
import org.sparkrdma.shuffle.tools.peer.PerfPlan;
import org.sparkrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The side of {@code perf} that reads and measures. */
@Command(
    name = "client",
    description =
        "Reads from a host with perf server, by RDMA READ and by TCP in turn, and prints speed,"
            + " time of a single transfer, and the CPU time of both processes.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
final class PerfClientCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private SettingsOptions settingsOptions;
  @Mixin private OutputOptions output;

  @Parameters(
      paramLabel = "HOST[:PORT]",
      description =
          "Where perf server runs; the port is "
              + PerfCommand.DEFAULT_PORT
              + " by default, an IPv6 address needs brackets.")
  private String peer;

  @Option(
      names = "--sizes",
      paramLabel = "LIST",
      defaultValue = "8,4k,64k,1m",
      description = "Lengths of transfers, 1 to 1m bytes; ${DEFAULT-VALUE} by default.")
  private List<String> sizes;

  @Option(
      names = "--ms",
      paramLabel = "MILLISECONDS",
      defaultValue = "2000",
      description = "Time for the speed of each size; ${DEFAULT-VALUE} ms by default.")
  private String durationMs;

  @Option(
      names = "--at-once",
      paramLabel = "NUMBER",
      defaultValue = "16",
      description = "Transfers in flight, 1 to 64; ${DEFAULT-VALUE} by default.")
  private String atOnce;

  @Override
  public Integer call() {
    HostPort at =
        HostPort.parse(peer, PerfCommand.DEFAULT_PORT)
            .orElseThrow(() -> Commands.wrongValue(spec, "HOST[:PORT] " + peer, HostPort.ALLOWED));
    PerfPlan plan = plan();
    ShuffleSettings settings = settingsOptions.shuffleSettings();
    InetAddress host = settingsOptions.sparkHost(System.getenv());
    try (OpenDevice device = OpenDevice.open(settings, host)) {
      return measure(device, at, plan);
    } catch (VerbsException e) {
      return fail(
          "RDMA cannot be used on this host: " + e.getMessage() + ListenerReport.RUN_DOCTOR);
    }
  }

  /** Returns the exit code. */
  private int measure(OpenDevice device, HostPort at, PerfPlan plan) {
    String server =
        "java -jar shuffle-plugin.jar perf server"
            + (at.port() == PerfCommand.DEFAULT_PORT ? "" : " --port " + at.port());
    String ended = "is not reached by TCP: ";
    String advice = "start there: " + server + ", and let a firewall pass that port";
    try (PerfClient client = new PerfClient(device, at.host(), at.port())) {
      ended = "has ended the TCP connection: ";
      advice = "doctor --listen takes no measurements; start there: " + server;
      LiveLine live =
          new LiveLine(spec.commandLine().getOut(), !output.json() && OutputOptions.onTerminal());
      List<PerfClient.Row> rows = client.run(plan, live::show);
      live.clear();
      return print(device, client, plan, rows);
    } catch (VerbsException e) {
      return fail(
          "Peer "
              + peer
              + " is not reached by RDMA: "
              + e.getMessage()
              + "; what to do says: java -jar shuffle-plugin.jar doctor --peer "
              + at.text(PeerCheck.DEFAULT_PORT));
    } catch (UnknownHostException e) {
      return fail(
          "Peer "
              + peer
              + " is an unknown host: its name has no address here; correct the name, or give the"
              + " address of the peer");
    } catch (NoListenerException e) {
      return fail(
          "The port of peer "
              + peer
              + " "
              + e.getMessage()
              + "; start there, with the same jar as here: "
              + server
              + "; if it uses another port, give HOST:PORT");
    } catch (IOException e) {
      return fail("Peer " + peer + " " + ended + e.getMessage() + "; " + advice);
    }
  }

  private int fail(String sentence) {
    spec.commandLine().getErr().println(sentence);
    return Commands.NOT_USABLE;
  }

  private PerfPlan plan() {
    List<Integer> bytes = new ArrayList<>();
    for (String list : sizes) {
      for (String size : list.split(",", -1)) {
        bytes.add(bytes(list, size.trim()));
      }
    }
    return new PerfPlan(
        bytes,
        Duration.ofMillis(Commands.numberFromOne(spec, "--ms", durationMs)),
        Commands.number(
            spec,
            "--at-once",
            atOnce,
            1,
            PerfPlan.MAX_AT_ONCE,
            "a whole number from 1 to " + PerfPlan.MAX_AT_ONCE));
  }

  private int bytes(String list, String size) {
    if (size.isEmpty()) {
      throw Commands.wrongValue(
          spec, "--sizes " + list, "numbers such as 8, 4k or 1m, none of them empty");
    }
    if (!size.matches("[0-9]{1,7}[kKmM]?")) {
      throw Commands.wrongValue(spec, "--sizes " + size, "numbers such as 8, 4k or 1m");
    }
    char unit = Character.toLowerCase(size.charAt(size.length() - 1));
    long number = Long.parseLong(size.replaceAll("[kKmM]", ""));
    long bytes = unit == 'k' ? number << 10 : unit == 'm' ? number << 20 : number;
    if (bytes < 1 || bytes > PerfPlan.MAX_BYTES) {
      throw Commands.wrongValue(spec, "--sizes " + size, "1 to 1m bytes");
    }
    return (int) bytes;
  }

  /** Returns the exit code. */
  private int print(
      OpenDevice device, PerfClient client, PerfPlan plan, List<PerfClient.Row> rows) {
    PerfReport figures =
        new PerfReport(
            device.device().info(),
            client.pair().toString(),
            plan.atOnce(),
            (int) plan.duration().toMillis(),
            rows);
    PrintWriter out = spec.commandLine().getOut();
    out.println(output.json() ? figures.json() : figures.text(output.style()));
    out.flush();
    return Commands.USABLE;
  }
}
