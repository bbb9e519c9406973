// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.tools.collect.CardFiles;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/**
 * The texts of {@code doctor --collect}. Created before the checks, because it reads counters
 * before and after them. Confined to the main thread.
 */
final class CardReport {
  private static final Pattern SECRET = Pattern.compile("(?i).*(secret|passw|token|credential).*");
  private static final String[] PROPERTIES = {
    "java.version", "java.vendor", "java.vm.name", "java.vm.version", "os.name", "os.arch"
  };

  private final CardFiles files;
  private final String countersBefore;

  CardReport(SystemFiles files) {
    this.files = new CardFiles(files);
    this.countersBefore = this.files.counters();
  }

  /**
   * All texts by the name of their entry.
   *
   * @param doctor answer of the command {@code doctor}, in JSON
   * @param devices answer of the command {@code devices}, in JSON
   */
  Map<String, String> texts(
      String doctor, String devices, SparkSettings spark, boolean withAddresses) {
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("README.txt", readme(withAddresses));
    texts.put("versions.txt", versions());
    texts.put("doctor.json", doctor);
    texts.put("devices.json", devices);
    texts.put("settings.txt", settings(spark));
    texts.putAll(files.texts());
    texts.put("counters-1.txt", countersBefore);
    texts.put("counters-2.txt", files.counters());
    return texts;
  }

  private static String readme(boolean withAddresses) {
    return """
        Made by doctor --collect, to judge how a card works with this plug-in.

        versions.txt      of the plug-in and of Java
        doctor.json       checks of this machine, with versions of libraries; names the user and the
                          local directories
        devices.json      devices of every engine with their limits
        settings.txt      settings of the plug-in, and no others
        system.txt        version of the kernel and of the distribution, limits, RDMA modules
        sysfs/DEVICE.txt  the kernel's files about a device and its ports
        counters-1.txt    counters of all ports before the checks
        counters-2.txt    the same about two seconds later

        """
        + (withAddresses
            ? "Addresses and the name of the host are in it, as --with-addresses says.\n"
            : "Addresses and the name of the host are replaced; equal addresses have equal names.\n");
  }

  private static String versions() {
    StringBuilder text = new StringBuilder();
    text.append("plug-in: ").append(new Commands.Version().getVersion()[0]).append('\n');
    for (String property : PROPERTIES) {
      text.append(property).append(": ").append(System.getProperty(property)).append('\n');
    }
    return text.toString();
  }

  private static String settings(SparkSettings spark) {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(spark.values())
        .forEach(
            (key, value) -> {
              if (key.startsWith(ShuffleSetting.PREFIX) && !SECRET.matcher(key).matches()) {
                text.append(key).append('=').append(value).append('\n');
              }
            });
    return text.toString();
  }
}
