// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.doctor.Level;
import org.sparkrdma.shuffle.tools.engines.EngineDevices;
import org.sparkrdma.shuffle.tools.engines.EngineProbe;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the devices of all engines, and the one that an executor would use. */
@Command(
    name = "devices",
    description =
        "Lists the RDMA devices of every engine as ibv_devinfo -v does, and which one would be used.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
final class DevicesCommand implements Callable<Integer> {
  private static final int SCHEMA = 1;

  @Spec private CommandSpec spec;
  @Mixin private SettingsOptions settingsOptions;
  @Mixin private OutputOptions output;

  @Override
  public Integer call() {
    SparkSettings spark = settingsOptions.settings();
    InetAddress host = settingsOptions.sparkHost(System.getenv());
    ShuffleSettings settings = settingsOptions.shuffleSettings();
    List<EngineDevices> engines = EngineDevices.all(settings.engineSettings());
    Probe probe =
        new EngineProbe(settings, spark, host).run(new SystemFiles(Path.of("/")), List.of());
    spec.commandLine()
        .getOut()
        .println(output.json() ? json(engines, probe) : text(engines, spark, probe));
    return probe.usable() ? Commands.USABLE : Commands.NOT_USABLE;
  }

  private String text(List<EngineDevices> engines, SparkSettings spark, Probe probe) {
    Style style = output.style();
    StringBuilder text = new StringBuilder();
    text.append(
            style.of(
                probe.usable() ? Level.OK : Level.PROBLEM,
                probe.usable() ? "Would be used: " : "No device would be used: "))
        .append(choice(probe))
        .append(condition(spark, probe))
        .append("\n");
    for (EngineDevices engine : engines) {
      text.append("\n").append(style.bold("engine " + engine.engine())).append("\n");
      if (!engine.reason().isEmpty()) {
        text.append("  cannot run: ").append(engine.reason()).append("\n");
      }
      engine.devices().forEach(device -> DeviceText.print(text, "  ", DeviceText.of(device)));
    }
    return text.toString().stripTrailing();
  }

  /** The device with the reason for its choice, or the reasons against all of them. */
  private static String choice(Probe probe) {
    return probe.usable()
        ? probe.inWords()
        : String.join("; ", probe.reasons()) + ListenerReport.RUN_DOCTOR;
  }

  /** Added where these settings alone do not make Spark load this plug-in. */
  private static String condition(SparkSettings spark, Probe probe) {
    return probe.usable() && spark.isManagerMissing()
        ? ", if " + SparkSettings.MANAGER + " is set to " + SparkSettings.PLUG_IN
        : "";
  }

  static String json(List<EngineDevices> engines, Probe probe) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", SCHEMA);
    all.put("usable", probe.usable());
    all.put("chosen", probe.usable() ? chosen(probe.choice().orElseThrow()) : null);
    all.put("reasons", probe.reasons());
    all.put("engines", engines.stream().map(DevicesCommand::engine).toList());
    return Json.of(all);
  }

  private static Map<String, Object> engine(EngineDevices engine) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("name", engine.engine());
    facts.put("reason", engine.reason());
    facts.put("devices", engine.devices().stream().map(DeviceText::of).toList());
    return facts;
  }

  /** The choice of a device as names and values. */
  static Map<String, Object> chosen(DeviceChoice choice) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("engine", choice.device().engine());
    facts.put("device", choice.device().name());
    facts.put("port", choice.port());
    facts.put("addresses", choice.addresses().stream().map(NetworkAddress::toString).toList());
    facts.put("reason", choice.reason());
    return facts;
  }
}
