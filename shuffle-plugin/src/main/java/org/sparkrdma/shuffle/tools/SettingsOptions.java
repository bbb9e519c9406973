// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.engines.SparkHost;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options that all commands have. Confined to the main thread. */
final class SettingsOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description =
          "Spark's settings, such as conf/spark-defaults.conf. Those that spark-submit passes on come"
              + " on top. Without any, Spark's defaults and this plug-in's are assumed.")
  private String file;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      description =
          "Spark's own address on this machine; by default found as Spark does it, SPARK_LOCAL_IP"
              + " first.")
  private String host;

  @Option(names = "--json", description = "Print JSON instead of text.")
  private boolean json;

  boolean json() {
    return json;
  }

  SparkSettings settings() {
    try {
      return SparkSettings.read(file == null ? null : Path.of(file), System.getProperties());
    } catch (IOException | InvalidPathException e) {
      throw new ParameterException(spec.commandLine(), "Cannot read --conf " + file + ": " + e, e);
    }
  }

  /** The plug-in's settings among them. */
  ShuffleSettings shuffleSettings() {
    try {
      return ShuffleSettings.of(settings().values());
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  InetAddress sparkHost() {
    try {
      return host == null ? SparkHost.find(System.getenv()) : InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      throw new ParameterException(
          spec.commandLine(),
          "Spark's own host has no address; give one with --host: " + e.getMessage(),
          e);
    }
  }
}
