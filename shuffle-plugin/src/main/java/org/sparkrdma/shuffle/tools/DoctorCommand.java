// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.doctor.Doctor;
import org.sparkrdma.shuffle.tools.doctor.Facts;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.doctor.Level;
import org.sparkrdma.shuffle.tools.engines.EngineProbe;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.shuffle.tools.engines.ProbedDevice;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;
import org.sparkrdma.shuffle.tools.peer.PeerCheck;
import org.sparkrdma.shuffle.tools.peer.PeerListener;
import org.sparkrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Checks everything that decides whether an executor here uses RDMA, and explains it. */
@Command(
    name = "doctor",
    description = "Reports whether RDMA will be used on this machine, and what to do if not.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
final class DoctorCommand implements Callable<Integer> {
  private static final String INDENT = " ".repeat(9);

  @Spec private CommandSpec spec;
  @Mixin private SettingsOptions options;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print all findings, not only the steps to take.")
  private boolean verbose;

  @Option(
      names = "--peer",
      paramLabel = "HOST[:PORT]",
      description =
          "Also reach another host, where doctor --listen or perf server runs, over TCP and by RDMA,"
              + " and measure a few READs. An IPv6 address needs brackets.")
  private String peer;

  @Option(
      names = "--listen",
      paramLabel = "PORT",
      arity = "0..1",
      fallbackValue = "" + PeerListener.DEFAULT_PORT,
      description =
          "Answer doctor --peer of other hosts for ten minutes, at this TCP port (default "
              + PeerListener.DEFAULT_PORT
              + "), as perf server does.")
  private Integer listen;

  @Option(
      names = "--collect",
      paramLabel = "FILE",
      description =
          "Also write the findings, the devices and the kernel's files about them into a new text"
              + " file for a maintainer. IP and hardware addresses and the name of this host are"
              + " replaced; read it before you send it.")
  private String archive;

  @Override
  public Integer call() {
    SparkSettings spark = options.settings();
    InetAddress host = options.sparkHost();
    if (listen != null) {
      return PerfCommand.listen(spec, options, listen, PerfCommand.DEFAULT_SECONDS);
    }
    HostPort at = peer == null ? null : HostPort.parse(spec, peer);
    // With wrong settings the driver does not start. The machine is then checked with the defaults
    // of these.
    ShuffleSettings settings = ShuffleSettings.read(spark.values());
    SystemFiles files = new SystemFiles(Path.of("/"));
    Map<String, String> environment = System.getenv();
    Probe probe =
        new EngineProbe(settings, spark, host, files, Facts.localDirectories(spark, environment))
            .run();
    List<Finding> ofPeer = at == null ? List.of() : check(at, probe, settings, host);
    Doctor.Report report =
        Doctor.run(new Facts(files, environment, spark, probe, ofPeer, Facts::waitASecond));
    Map<String, Object> facts = facts(report, probe);
    if (archive != null) {
      collect(files, spark, facts, DevicesCommand.facts(settings.engineSettings(), probe));
    }
    PrintWriter out = spec.commandLine().getOut();
    out.println(options.json() ? Json.of(facts) : text(report, verbose));
    out.flush();
    return report.usable() ? Commands.USABLE : Commands.NOT_USABLE;
  }

  private void collect(
      SystemFiles files,
      SparkSettings spark,
      Map<String, Object> findings,
      Map<String, Object> devices) {
    try {
      Archive.write(Path.of(archive), files, spark, Json.of(findings), Json.of(devices));
    } catch (IOException | InvalidPathException e) {
      throw new ParameterException(
          spec.commandLine(), "Cannot write --collect " + archive + ": " + e, e);
    }
  }

  private static List<Finding> check(
      HostPort at, Probe probe, ShuffleSettings settings, InetAddress host) {
    PeerCheck check = new PeerCheck(at.host(), at.port());
    if (!probe.usable()) {
      return check.runWithoutDevice();
    }
    try (ProbedDevice device = ProbedDevice.open(settings, host)) {
      return check.run(device);
    } catch (VerbsException e) {
      return List.of(Finding.problem(e.getMessage() + ".", "run this command again"));
    }
  }

  /** The answer, then at most three steps, or all findings. */
  static String text(Doctor.Report report, boolean verbose) {
    List<String> lines = new ArrayList<>(List.of(report.summary()));
    if (verbose) {
      report
          .findings()
          .forEach(
              (check, findings) -> {
                if (!findings.isEmpty()) {
                  lines.add(System.lineSeparator() + check);
                }
                findings.forEach(one -> add(lines, one));
              });
    } else {
      List<Finding> steps = report.steps();
      for (int i = 0; i < steps.size(); i++) {
        Finding step = steps.get(i);
        String number = (i + 1) + ". ";
        // A single reason is in the verdict above.
        if (!step.message().equals(String.join("; ", report.reasons()) + ".")) {
          lines.add(number + step.message());
          number = "   ";
        }
        lines.add(number + "To do: " + step.advice());
      }
      lines.add("All findings: -v.");
    }
    return String.join(System.lineSeparator(), lines);
  }

  private static void add(List<String> lines, Finding finding) {
    String level = finding.level().name().toLowerCase(Locale.ROOT);
    lines.add(String.format(Locale.ROOT, "%-8s %s", level, finding.message()));
    if (finding.level() != Level.OK) {
      lines.add(INDENT + "To do: " + finding.advice());
    }
  }

  private static Map<String, Object> facts(Doctor.Report report, Probe probe) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", Commands.SCHEMA);
    all.put("usable", report.usable());
    all.put("summary", report.summary());
    all.put("reasons", report.reasons());
    all.put("chosen", probe.choice().map(DevicesCommand::chosen));
    all.put("findings", report.findings());
    return all;
  }
}
