// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.SettingMistakes;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.doctor.Doctor;
import org.sparkrdma.shuffle.tools.doctor.Facts;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.doctor.Level;
import org.sparkrdma.shuffle.tools.engines.EngineProbe;
import org.sparkrdma.shuffle.tools.engines.OpenDevice;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;
import org.sparkrdma.shuffle.tools.peer.PeerCheck;
import org.sparkrdma.shuffle.tools.peer.PeerListener;
import org.sparkrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Checks everything that decides whether an executor here uses RDMA, and explains it. */
@Command(
    name = "doctor",
    description =
        "Reports whether RDMA will be used on this machine, and explains every fact that decides it.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
final class DoctorCommand implements Callable<Integer> {
  private static final int SCHEMA = 1;
  private static final long SAMPLE_MS = 1_000;
  private static final long SERVE_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final String INDENT = " ".repeat(9);

  @Spec private CommandSpec spec;
  @Mixin private SettingsOptions settingsOptions;
  @Mixin private OutputOptions output;
  @Mixin private PeerOptions peerOptions;

  @Override
  public Integer call() {
    SparkSettings spark = settingsOptions.settings();
    Map<String, String> environment = System.getenv();
    SystemFiles files = new SystemFiles(Path.of("/"));
    InetAddress host = settingsOptions.sparkHost(environment);
    PeerCheck peer = peerOptions.check();
    // With wrong settings the driver does not start. The machine is then checked with defaults.
    boolean right = SettingMistakes.of(spark.values()).isEmpty();
    ShuffleSettings settings =
        right ? ShuffleSettings.of(spark.values()) : ShuffleSettings.defaults();
    if (peerOptions.listens()) {
      return listen(settings, host);
    }
    Probe probe =
        new EngineProbe(settings, spark, host)
            .run(files, Facts.localDirectories(spark, environment));
    Facts facts =
        new Facts(
            files,
            environment,
            javaProperties(),
            spark,
            probe,
            peer == null || !probe.usable() ? List.of() : check(peer, settings, host),
            DoctorCommand::sample);
    Doctor.Report report = Doctor.run(facts);
    print(report, probe);
    return report.usable() ? Commands.USABLE : Commands.NOT_USABLE;
  }

  private static List<Finding> check(PeerCheck peer, ShuffleSettings settings, InetAddress host) {
    try (OpenDevice device = OpenDevice.open(settings, host)) {
      return peer.run(device);
    } catch (VerbsException e) {
      return List.of(Finding.problem(e.getMessage() + ".", "run this command again"));
    }
  }

  private int listen(ShuffleSettings settings, InetAddress host) {
    PrintWriter out = spec.commandLine().getOut();
    int port = peerOptions.listenPort();
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(peerOptions.listenSeconds());
    try (OpenDevice device = OpenDevice.open(settings, host);
        PeerListener listener = PeerListener.forChecks(device, port)) {
      out.printf(
          "Listening at TCP port %d, by RDMA at %s%n", listener.port(), listener.addresses());
      out.flush();
      while (System.nanoTime() - endNs < 0) {
        listener.serve(SERVE_NS);
      }
      return Commands.USABLE;
    } catch (VerbsException e) {
      out.println("RDMA will not be used: " + e.getMessage());
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
      printText(out, report);
    }
    out.flush();
  }

  private void printText(PrintWriter out, Doctor.Report report) {
    Style style = output.style();
    out.println(style.of(report.usable() ? Level.OK : Level.PROBLEM, report.summary()));
    report
        .findings()
        .forEach(
            (check, findings) -> {
              if (!findings.isEmpty()) {
                out.println();
                out.println(style.bold(check));
              }
              findings.forEach(finding -> printFinding(out, style, finding));
            });
    out.println();
    out.printf(
        "Problems: %d, warnings: %d, notes: %d. Findings marked ok need nothing.%n",
        report.count(Level.PROBLEM), report.count(Level.WARNING), report.count(Level.NOTE));
  }

  private static void printFinding(PrintWriter out, Style style, Finding finding) {
    String level = "%-8s".formatted(lower(finding.level()));
    out.println(style.of(finding.level(), level) + " " + finding.message());
    if (finding.level() != Level.OK) {
      out.println(INDENT + "To do: " + finding.advice());
    }
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
    all.put("chosen", probe.choice().map(ChosenDevice::of).orElse(null));
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
