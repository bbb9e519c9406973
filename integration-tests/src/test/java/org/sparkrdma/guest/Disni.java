// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** DiSNI for the tests: its jar from the build, libdisni from the folder that the user names. */
final class Disni {
  private static final String LIBRARY = "disni.library";
  private static final String JAVA = "17";

  private Disni() {}

  /** Aborts the test with the reason in one line when it cannot run over DiSNI. */
  static void assumeUsable() {
    if (System.getProperty(LIBRARY, "").isEmpty()) {
      skip("no libdisni: -D" + LIBRARY + "=FOLDER names the folder of one");
    }
    Path library = Path.of(folder(), System.mapLibraryName("disni"));
    if (!Files.isReadable(library)) {
      throw new IllegalStateException(
          "bad property: key=" + LIBRARY + " value=" + folder() + " missing=" + library);
    }
    if (!GuestJdk.version().equals(JAVA)) {
      skip("DiSNI is tested on Java " + JAVA + " only");
    }
  }

  private static void skip(String reason) {
    System.out.println("Tests over DiSNI did not run: " + reason);
    abort(reason);
  }

  /** The folder of libdisni. */
  static String folder() {
    return System.getProperty(LIBRARY);
  }

  /** DiSNI's jar. */
  static String jar() throws IOException {
    Path classPath = Path.of(Build.property("it.verbs.directory"), "test.classpath");
    return Stream.of(Files.readString(classPath).strip().split(":"))
        .filter(entry -> Path.of(entry).getFileName().toString().startsWith("disni-"))
        .findFirst()
        .orElseThrow();
  }

  /** Options of a JVM that uses DiSNI. */
  static List<String> options(String... others) {
    List<String> options = new ArrayList<>(List.of(others));
    options.add("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
    options.add("-Djava.library.path=" + folder());
    return options;
  }
}
