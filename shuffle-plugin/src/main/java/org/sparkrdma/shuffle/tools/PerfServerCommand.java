// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.OpenDevice;
import org.sparkrdma.shuffle.tools.peer.PeerListener;
import org.sparkrdma.shuffle.tools.peer.TcpSource;
import org.sparkrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The side of {@code perf} that is read from. */
@Command(
    name = "server",
    description =
        "Answers perf client, and doctor --peer, of other hosts. Any host may read 1 MiB of test data"
            + " then.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
final class PerfServerCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private SettingsOptions settingsOptions;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "" + PerfCommand.DEFAULT_PORT,
      description = "TCP port, ${DEFAULT-VALUE} by default; 0 takes a free one.")
  private String port;

  @Option(
      names = "--listen-for",
      paramLabel = "SECONDS",
      defaultValue = "600",
      description = "How long it answers; ${DEFAULT-VALUE} s by default.")
  private String seconds;

  @Option(names = "--json", description = "Print JSON, in one line, instead of text.")
  private boolean json;

  @Override
  public Integer call() {
    int tcpPort = HostPort.listenPort(spec, "--port", port);
    int limitSeconds = Commands.numberFromOne(spec, "--listen-for", seconds);
    ShuffleSettings settings = settingsOptions.shuffleSettings();
    InetAddress host = settingsOptions.sparkHost(System.getenv());
    PrintWriter out = spec.commandLine().getOut();
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(limitSeconds);
    try (OpenDevice device = OpenDevice.open(settings, host);
        TcpSource source = new TcpSource();
        PeerListener listener = PeerListener.forMeasurements(device, tcpPort, source)) {
      HostPort own = new HostPort(host.getHostAddress(), listener.port());
      String client = "perf client " + own.text(PerfCommand.DEFAULT_PORT);
      out.println(
          new ListenerReport(listener.port(), listener.addresses(), limitSeconds, client).in(json));
      out.flush();
      listener.serveUntil(endNs);
      listener.serveRest(source);
      return Commands.USABLE;
    } catch (VerbsException e) {
      spec.commandLine()
          .getErr()
          .println("RDMA cannot be used here: " + e.getMessage() + ListenerReport.RUN_DOCTOR);
      return Commands.NOT_USABLE;
    } catch (IOException e) {
      spec.commandLine()
          .getErr()
          .println("Cannot listen at TCP port " + port + ": " + e.getMessage());
      return Commands.WRONG_USAGE;
    }
  }
}
