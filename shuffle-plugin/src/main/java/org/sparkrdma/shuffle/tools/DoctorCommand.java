// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.SettingMistakes;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.collect.CardArchive;
import org.sparkrdma.shuffle.tools.doctor.Doctor;
import org.sparkrdma.shuffle.tools.doctor.Facts;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.doctor.Level;
import org.sparkrdma.shuffle.tools.engines.EngineDevices;
import org.sparkrdma.shuffle.tools.engines.EngineProbe;
import org.sparkrdma.shuffle.tools.engines.FileErrors;
import org.sparkrdma.shuffle.tools.engines.OpenDevice;
import org.sparkrdma.shuffle.tools.engines.Probe;
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
  private static final int SCHEMA = 1;
  private static final long SAMPLE_MS = 1_000;

  @Spec private CommandSpec spec;
  @Mixin private SettingsOptions settingsOptions;
  @Mixin private OutputOptions output;
  @Mixin private PeerOptions peerOptions;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print all findings, not only the steps to take.")
  private boolean verbose;

  @Option(
      names = "--collect",
      paramLabel = "FILE",
      description =
          "Also pack the findings, the devices and the kernel's files about them into a new zip"
              + " file for a maintainer. IP and hardware addresses and the name of this host are"
              + " replaced; read it before you send it.")
  private String archive;

  @Override
  public Integer call() {
    SparkSettings spark = settingsOptions.settings();
    SystemFiles files = new SystemFiles(Path.of("/"));
    InetAddress host = settingsOptions.sparkHost(System.getenv());
    PeerCheck peer = peerOptions.check();
    // With wrong settings the driver does not start. The machine is then checked with defaults.
    boolean right = SettingMistakes.of(spark.values()).isEmpty();
    ShuffleSettings settings =
        right ? ShuffleSettings.of(spark.values()) : ShuffleSettings.defaults();
    if (peerOptions.listens()) {
      if (archive != null) {
        throw Commands.wrongValue(spec, "--listen with --collect", "one of them");
      }
      return listen(settings, host);
    }
    Probe probe =
        new EngineProbe(settings, spark, host)
            .run(files, Facts.localDirectories(spark, System.getenv()));
    Doctor.Report report =
        Doctor.run(
            new Facts(
                files,
                System.getenv(),
                javaProperties(),
                spark,
                probe,
                Optional.of(host),
                peer == null ? List.of() : check(peer, probe, settings),
                DoctorCommand::sample));
    if (archive != null) {
      pack(files, spark, settings, report, probe);
    }
    print(report, probe);
    return report.usable() ? Commands.USABLE : Commands.NOT_USABLE;
  }

  private void pack(
      SystemFiles files,
      SparkSettings spark,
      ShuffleSettings settings,
      Doctor.Report report,
      Probe probe) {
    String devices = DevicesCommand.json(EngineDevices.all(settings.engineSettings()), probe);
    try {
      CardArchive.write(Path.of(archive), files, spark, json(report, probe), devices);
    } catch (NoSuchFileException e) {
      throw cannotWrite("its folder does not exist, or takes no new files");
    } catch (InvalidPathException e) {
      throw cannotWrite(FileErrors.reason(e));
    } catch (IOException e) {
      throw cannotWrite(FileErrors.reason(e));
    }
  }

  private ParameterException cannotWrite(String reason) {
    return new ParameterException(
        spec.commandLine(), "Cannot write --collect " + archive + ": " + reason);
  }

  private static List<Finding> check(PeerCheck peer, Probe probe, ShuffleSettings settings) {
    if (!probe.usable()) {
      return peer.runWithoutDevice();
    }
    try (OpenDevice device = OpenDevice.open(settings, probe.choice().orElseThrow())) {
      return peer.run(device);
    } catch (VerbsException e) {
      List<Finding> findings = new ArrayList<>();
      findings.add(Finding.problem(e.getMessage() + ".", "run this command again"));
      findings.addAll(peer.runWithoutDevice());
      return findings;
    }
  }

  private int listen(ShuffleSettings settings, InetAddress host) {
    PrintWriter out = spec.commandLine().getOut();
    int port = peerOptions.listenPort();
    int seconds = peerOptions.listenSeconds();
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    try (OpenDevice device = OpenDevice.open(settings, host);
        PeerListener listener = PeerListener.forChecks(device, port)) {
      HostPort own = new HostPort(host.getHostAddress(), listener.port());
      String client = "doctor --peer " + own.text(PeerCheck.DEFAULT_PORT);
      out.println(
          new ListenerReport(listener.port(), listener.addresses(), seconds, client)
              .in(output.json()));
      out.flush();
      listener.serveUntil(endNs);
      return Commands.USABLE;
    } catch (VerbsException e) {
      out.println(ListenerReport.unusable(output.json(), e.getMessage()));
      return Commands.NOT_USABLE;
    } catch (IOException e) {
      spec.commandLine()
          .getErr()
          .println(
              "Cannot listen at TCP port "
                  + port
                  + ": "
                  + e.getMessage()
                  + "; give another one, as in --listen 7475");
      return Commands.WRONG_USAGE;
    }
  }

  private static Map<String, String> javaProperties() {
    Map<String, String> properties = new TreeMap<>();
    for (String key : System.getProperties().stringPropertyNames()) {
      properties.put(key, System.getProperty(key));
    }
    return properties;
  }

  private static void sample() {
    try {
      Thread.sleep(SAMPLE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void print(Doctor.Report report, Probe probe) {
    PrintWriter out = spec.commandLine().getOut();
    if (output.json()) {
      out.println(json(report, probe));
    } else {
      ReportText text = new ReportText(output.style(), output.lineWrap());
      out.print(verbose ? text.withAllFindings(report) : text.of(report));
    }
    out.flush();
  }

  private static String lower(Level level) {
    return level.name().toLowerCase(Locale.ROOT);
  }

  private static String json(Doctor.Report report, Probe probe) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", SCHEMA);
    all.put("usable", report.usable());
    all.put("summary", report.summary());
    all.put("reasons", report.reasons());
    all.put("chosen", probe.choice().map(DevicesCommand::chosen).orElse(null));
    List<Map<String, Object>> findings = new ArrayList<>();
    report
        .findings()
        .forEach((check, ofCheck) -> ofCheck.forEach(one -> findings.add(json(check, one))));
    all.put("findings", findings);
    return Json.of(all);
  }

  private static Map<String, Object> json(String check, Finding finding) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("check", check);
    facts.put("level", lower(finding.level()));
    facts.put("message", finding.message());
    facts.put("toDo", finding.advice());
    return facts;
  }
}
