// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.verbs.Verbs;

/** Programs of the archive, run by the Java of this process with its -XX options. */
class Programs {
  /** The jar of the plug-in that is tested. */
  Path pluginJar() {
    return jar(Verbs.class);
  }

  /** The repository's page, with issues; empty where the build does not name one. */
  Optional<String> page() {
    return Optional.of(HostFacts.attribute(jar(Programs.class), "Repository-Page"))
        .filter(page -> page.startsWith("https://") && !page.contains("/OWNER/"));
  }

  private static Path jar(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException("a jar has no path", e);
    }
  }

  /**
   * The contract suite.
   *
   * @param tests as the arguments of ContractMain
   */
  List<String> contract(List<String> tests) {
    List<String> command = java();
    command.addAll(List.of("-Xmx512m", "-ea:org.sparkrdma...", "-Dsparkrdma.leaks=true"));
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add("org.sparkrdma.verbs.contract.ContractMain");
    command.addAll(tests);
    return command;
  }

  /**
   * A command of the plug-in's jar.
   *
   * @param arguments such as {@code perf server}
   */
  List<String> plugin(List<String> arguments) {
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
