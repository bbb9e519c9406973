// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads and initialises the classes that read and serve blocks before a task waits for a block. The
 * first request of an executor would load them one after another, which takes longer than all else
 * that the request does.
 */
public final class FetchClasses {
  private static final Logger LOG = LoggerFactory.getLogger(FetchClasses.class);

  private FetchClasses() {}

  /**
   * Takes some tens of milliseconds. Without a jar, as in a development environment, it does
   * nothing.
   *
   * @param engine whose classes are loaded, too
   */
  public static void load(String engine) {
    try {
      Path jar =
          Path.of(FetchClasses.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      if (Files.isRegularFile(jar)) {
        LOG.debug("Classes are loaded: number={}", load(jar, engine));
      }
    } catch (Exception | LinkageError e) {
      // The first request meets it again, where it is handled.
      LOG.debug("Not all classes are loaded", e);
    }
  }

  static int load(Path file, String engine) throws IOException, ClassNotFoundException {
    Pattern ofFetch =
        Pattern.compile(
            "org/sparkrdma/(memory|shuffle/(fetch|output|read|serve|transport|wire)"
                + "|verbs|verbs/engine|verbs/"
                + engine
                + ")/[^/]+\\.class");
    try (JarFile jar = new JarFile(file.toFile())) {
      List<String> classes =
          jar.stream()
              .map(entry -> entry.getName())
              .filter(ofFetch.asMatchPredicate())
              .map(name -> name.replaceAll("\\.class$", "").replace('/', '.'))
              .toList();
      for (String name : classes) {
        Class.forName(name, true, FetchClasses.class.getClassLoader());
      }
      return classes.size();
    }
  }
}
