// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.EngineProbe;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.VerbsProvider;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the devices of all engines, and the one that an executor would use. */
@Command(
    name = "devices",
    description = "Lists the RDMA devices of every engine, and which one would be used.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class)
final class DevicesCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private SettingsOptions options;

  /**
   * One engine.
   *
   * @param devices empty when it cannot run
   * @param reason why it cannot run; empty when it can
   */
  private record Engine(String name, List<DeviceInfo> devices, String reason) {}

  @Override
  public Integer call() {
    ShuffleSettings settings = options.shuffleSettings();
    Probe probe =
        new EngineProbe(
                settings,
                options.settings(),
                options.sparkHost(),
                new SystemFiles(Path.of("/")),
                List.of())
            .run();
    Map<String, Object> facts = facts(settings.engineSettings(), probe);
    spec.commandLine().getOut().println(options.json() ? Json.of(facts) : text(facts, probe));
    return probe.usable() ? Commands.USABLE : Commands.NOT_USABLE;
  }

  /** The choice, and the JSON of the engines without its punctuation. */
  private static String text(Map<String, Object> facts, Probe probe) {
    String choice =
        probe.usable()
            ? "Would be used: " + probe.inWords()
            : "No device would be used: "
                + String.join("; ", probe.reasons())
                + Commands.RUN_DOCTOR;
    String engines = Json.of(facts.get("engines"));
    return choice + engines.replaceAll("[\\[\\]{}\",]", "").replaceAll("\\n\\s*(?=\\n|$)", "");
  }

  /** All of it as names and values. */
  static Map<String, Object> facts(EngineSettings settings, Probe probe) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", Commands.SCHEMA);
    all.put("usable", probe.usable());
    all.put("chosen", probe.usable() ? chosen(probe.choice().orElseThrow()) : null);
    all.put("reasons", probe.reasons());
    List<Engine> engines = new ArrayList<>();
    for (VerbsProvider provider : Verbs.providers()) {
      engines.add(engine(provider, settings));
    }
    all.put("engines", engines);
    return all;
  }

  private static Engine engine(VerbsProvider provider, EngineSettings settings) {
    try (VerbsEngine engine = provider.load(settings)) {
      return new Engine(provider.name(), engine.devices(), "");
    } catch (VerbsException | LinkageError e) {
      return new Engine(provider.name(), List.of(), String.valueOf(e.getMessage()));
    }
  }

  /** The choice of a device as names and values. */
  static Map<String, Object> chosen(DeviceChoice choice) {
    return Map.of(
        "engine", choice.device().engine(),
        "device", choice.device().name(),
        "port", choice.port(),
        "addresses", choice.addresses().stream().map(NetworkAddress::toString).toList(),
        "reason", choice.reason());
  }
}
