// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.environment;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Collectors and flags of this JVM. Only sizes, numbers and switches are named: other flags may
 * contain paths, commands or secrets. Stateless.
 */
final class JvmFlags {
  private static final Pattern HARMLESS =
      Pattern.compile(
          "-X(m[nsx]|ss)[0-9]+[kKmMgG]?|-X(int|comp|mixed|batch)|-Xshare:[a-z]+"
              + "|-XX:[+-][A-Za-z0-9]+|-XX:[A-Za-z0-9]+=[0-9.]+[kKmMgGtT]?");

  private JvmFlags() {}

  /** The flags of the process that calls it, in one line. */
  static String ofThisJvm() {
    String collectors =
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(GarbageCollectorMXBean::getName)
            .collect(Collectors.joining(" + "));
    return (collectors
            + "; "
            + String.join(" ", harmless(ManagementFactory.getRuntimeMXBean().getInputArguments())))
        .strip();
  }

  static List<String> harmless(List<String> arguments) {
    return arguments.stream().filter(argument -> HARMLESS.matcher(argument).matches()).toList();
  }
}
