// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.shuffle.pinned.Mounts;

/** Version of Java, and how C libraries are called on it. */
final class JavaCheck implements Check {
  private static final int FIRST_WITH_FOREIGN = 22;

  @Override
  public String name() {
    return "java";
  }

  @Override
  public List<Finding> run(Facts facts) {
    String version = facts.java().getOrDefault("java.version", "unknown");
    String text = "Java " + version + " calls the libraries through ";
    if (feature(facts) >= FIRST_WITH_FOREIGN) {
      return List.of(Finding.ok(text + "java.lang.foreign."));
    }
    String folder =
        facts
            .java()
            .getOrDefault("jffi.extract.dir", facts.java().getOrDefault("java.io.tmpdir", "/tmp"));
    text += "jffi, which writes its own library to " + folder + ".";
    boolean runs = Mounts.of(facts.files()).holding(Path.of(folder)).allows("exec");
    return List.of(
        runs
            ? Finding.ok(text)
            : facts.against(
                text + " That file system is mounted noexec.",
                "set -Djffi.extract.dir=DIR in spark.executor.extraJavaOptions, with a folder that"
                    + " allows executable files, or use Java 22 or newer"));
  }

  private static int feature(Facts facts) {
    String text = facts.java().getOrDefault("java.specification.version", "0");
    return text.matches("\\d{1,4}") ? Integer.parseInt(text) : 0;
  }
}
