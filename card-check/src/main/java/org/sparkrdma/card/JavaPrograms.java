// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.Verbs;

/** Programs of this archive, run by the Java of this process with its -XX options. Stateless. */
final class JavaPrograms implements Programs {
  private static final String CONTRACT_MAIN = "org.sparkrdma.verbs.contract.ContractMain";

  @Override
  public Path pluginJar() {
    try {
      return Path.of(Verbs.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException("the plug-in's jar has no path", e);
    }
  }

  @Override
  public List<String> contract(List<String> tests) {
    List<String> command = java();
    command.addAll(
        List.of(
            "-Xmx512m",
            "-ea:org.sparkrdma...",
            "-Dsparkrdma.leaks=true",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            System.getProperty("java.class.path"),
            CONTRACT_MAIN));
    command.addAll(tests);
    return command;
  }

  @Override
  public List<String> costs(String device, Path folder) {
    List<String> command = java();
    command.addAll(
        List.of(
            "-Xmx256m",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            System.getProperty("java.class.path"),
            CostMain.class.getName(),
            IbverbsDevices.ENGINE,
            device,
            folder.toString()));
    return command;
  }

  @Override
  public List<String> plugin(List<String> arguments) {
    List<String> command = java();
    command.addAll(List.of("-jar", pluginJar().toString()));
    command.addAll(arguments);
    return command;
  }

  private static List<String> java() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> option.startsWith("-XX:"))
        .forEach(command::add);
    command.add("--enable-native-access=ALL-UNNAMED");
    return command;
  }
}
