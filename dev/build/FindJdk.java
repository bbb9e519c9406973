// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Prints the home of a JDK of at least the given feature version, or nothing: the JDK that runs
 * this program if it is new enough, else the one in JAVA22_HOME or JAVA_HOME_25_X64, else the
 * oldest suitable one in the usual places. Run as {@code java FindJdk.java 22}, or as {@code java
 * FindJdk.java 17 17}, where the second number is the maximum version.
 */
final class FindJdk {
  private static final List<String> PLACES =
      List.of(
          "/usr/lib/jvm",
          "/usr/java",
          "/opt/java",
          "~/.sdkman/candidates/java",
          "~/.jdks",
          "~/.asdf/installs/java");

  public static void main(String[] arguments) throws IOException {
    int least = Integer.parseInt(arguments[0]);
    int most = arguments.length > 1 ? Integer.parseInt(arguments[1]) : Integer.MAX_VALUE;
    List<Path> named = new ArrayList<>();
    named.add(Path.of(System.getProperty("java.home")));
    for (Map.Entry<String, String> entry : new TreeMap<>(System.getenv()).entrySet()) {
      if (entry.getKey().matches("JAVA_?[0-9]+_HOME|JAVA_HOME_[0-9]+(_\\w+)?")) {
        named.add(Path.of(entry.getValue()));
      }
    }
    for (Path home : named) {
      if (version(home) >= least && version(home) <= most) {
        System.out.print(home);
        return;
      }
    }
    TreeMap<Integer, Path> found = new TreeMap<>();
    for (String place : PLACES) {
      Path directory = Path.of(place.replaceFirst("^~", System.getProperty("user.home")));
      if (Files.isDirectory(directory)) {
        try (Stream<Path> homes = Files.list(directory)) {
          homes
              .sorted()
              .forEach(home -> found.putIfAbsent(version(home), home));
        }
      }
    }
    Map.Entry<Integer, Path> best = found.ceilingEntry(least);
    if (best != null && best.getKey() <= most) {
      System.out.print(best.getValue());
    }
  }

  /** The feature version of a JDK; 0 when there is none with a compiler. */
  private static int version(Path home) {
    Path release = home.resolve("release");
    if (!Files.isExecutable(home.resolve("bin/javac")) || !Files.isReadable(release)) {
      return 0;
    }
    try (var reader = Files.newBufferedReader(release)) {
      var properties = new Properties();
      properties.load(reader);
      String version = properties.getProperty("JAVA_VERSION", "0").replace("\"", "");
      return Runtime.Version.parse(version).feature();
    } catch (IOException | IllegalArgumentException e) {
      return 0;
    }
  }
}
