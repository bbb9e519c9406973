// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.tools.engines.FileErrors;
import org.sparkrdma.shuffle.tools.engines.WriteTrial;

/**
 * Version of Java, how C libraries are called on it, and whether executors may do so. Java 22 and
 * newer prints a warning at the first call of C from a module without {@code
 * --enable-native-access}, and a later version will refuse it (JEP 472). The manifest of the
 * plug-in's jar allows it to {@code java -jar} only, not to executors.
 */
final class JavaCheck {
  private static final int FIRST_WITH_FOREIGN = 22;
  private static final String FLAG = "--enable-native-access=ALL-UNNAMED";

  /** The driver calls C where spark-submit runs the commands of the jar. */
  private static final String OPTIONS =
      "spark.executor.extraJavaOptions and spark.driver.extraJavaOptions";

  /** The option in either spelling, alone or in a list of modules. */
  private static final Pattern ALLOWED =
      Pattern.compile("--enable-native-access[= ]([^\\s\"']*,)?ALL-UNNAMED(?![\\w.-])");

  static List<Finding> run(Facts facts) {
    String version = facts.java().getOrDefault("java.version", "unknown");
    String text = "Java " + version + " calls the libraries through ";
    if (feature(facts) >= FIRST_WITH_FOREIGN) {
      text += "java.lang.foreign.";
      return List.of(
          allowsNativeAccess(facts)
              ? Finding.ok(text)
              : Finding.note(
                  text
                      + " No setting allows that to executors: Java prints a warning, and a later"
                      + " version of Java will refuse it.",
                  "add " + FLAG + (" to " + OPTIONS) + "; Spark 4.1 and newer adds it by itself"));
    }
    String folder =
        facts
            .java()
            .getOrDefault("jffi.extract.dir", facts.java().getOrDefault("java.io.tmpdir", "/tmp"));
    String ofJffi = text + "jffi, which writes its own library to " + folder + ".";
    return List.of(
        objection(facts, folder)
            .map(
                objection ->
                    facts.against(
                        ofJffi + " " + objection,
                        "set -Djffi.extract.dir=DIR in "
                            + OPTIONS
                            + ", with a folder that exists and allows to write and to execute files,"
                            + " or use Java 22 or newer"))
            .orElse(Finding.ok(ofJffi)));
  }

  /** The reason why jffi cannot write its library to the folder and load it from there. */
  private static Optional<String> objection(Facts facts, String name) {
    Path folder;
    try {
      folder = Path.of(name);
    } catch (InvalidPathException e) {
      return Optional.of("That folder cannot be used: " + FileErrors.reason(e) + ".");
    }
    WriteTrial trial = WriteTrial.in(folder);
    if (!trial.exists()) {
      return Optional.of("That folder does not exist.");
    }
    if (!trial.isWritable()) {
      return Optional.of(
          String.format(
              Locale.ROOT, "user=%s cannot write there: %s.", facts.user(), trial.reason()));
    }
    return Mounts.of(facts.files()).holding(folder).allows("exec")
        ? Optional.empty()
        : Optional.of("That file system is mounted noexec.");
  }

  /** Whether the options that every executor gets allow calls of C to the class path. */
  private static boolean allowsNativeAccess(Facts facts) {
    return Stream.concat(
            Stream.of("spark.executor.defaultJavaOptions", "spark.executor.extraJavaOptions")
                .map(key -> facts.spark().value(key, "")),
            Stream.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
                .map(key -> facts.environment().getOrDefault(key, "")))
        .anyMatch(options -> ALLOWED.matcher(options).find());
  }

  private static int feature(Facts facts) {
    String text = facts.java().getOrDefault("java.specification.version", "0");
    return text.matches("\\d{1,4}") ? Integer.parseInt(text) : 0;
  }

  private JavaCheck() {}
}
