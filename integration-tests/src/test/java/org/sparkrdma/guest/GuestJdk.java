// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/**
 * The JDK that runs the programs in the guest: of version 17, which is the default, or with {@code
 * -Dguest.java=25} the newer one.
 */
final class GuestJdk {
  /**
   * Options with which a JVM starts soonest in a guest, where page faults and switches between
   * threads are expensive: few threads, one compiler, no file of counters.
   */
  static final String START_SOON =
      "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:CICompilerCount=1 -XX:-UsePerfData";

  private static final String CHOICE = "guest.java";
  private static final int FIRST_NEWER = 22;

  private GuestJdk() {}

  /** Its home. */
  static String home() {
    String choice = System.getProperty(CHOICE, "17");
    return switch (choice) {
      case "17" -> buildJdkHome();
      case "25" -> Build.property("it.jdk22.home");
      default ->
          throw new IllegalArgumentException(
              "bad property: key=" + CHOICE + " value=" + choice + " allowed=17,25");
    };
  }

  private static String buildJdkHome() {
    int build = Runtime.version().feature();
    if (build >= FIRST_NEWER) {
      throw new IllegalStateException(
          CHOICE + "=17 needs the build to run on a JDK of 17 to 21, this is " + build);
    }
    return System.getProperty("java.home");
  }

  /** Its version, as {@code 17}. */
  static String version() {
    var release = new Properties();
    try (var reader = Files.newBufferedReader(Path.of(home(), "release"))) {
      release.load(reader);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String version = release.getProperty("JAVA_VERSION").replace("\"", "");
    return Integer.toString(Runtime.Version.parse(version).feature());
  }
}
