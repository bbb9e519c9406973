// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads and initialises the classes that read and serve blocks before a task waits for a block. The
 * first request of an executor would load them one after another, which takes longer than all else
 * that the request does.
 */
final class FetchClasses {
  private static final Logger LOG = LoggerFactory.getLogger(FetchClasses.class);
  private static final String ROOT = "org/sparkrdma/";
  private static final String SUFFIX = ".class";

  private static final List<String> PACKAGES =
      List.of(
          "memory/",
          "shuffle/fetch/",
          "shuffle/output/",
          "shuffle/read/",
          "shuffle/serve/",
          "shuffle/transport/",
          "shuffle/wire/",
          "verbs/",
          "verbs/engine/");

  private FetchClasses() {}

  /**
   * Takes some tens of milliseconds. Without a jar, as in a development environment, it does
   * nothing.
   *
   * @param engine whose classes are loaded, too
   */
  static void load(String engine) {
    long startNs = System.nanoTime();
    int loaded = 0;
    try {
      Path jar =
          Path.of(FetchClasses.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      loaded = Files.isRegularFile(jar) ? load(jar, engine) : 0;
    } catch (IOException | URISyntaxException | ClassNotFoundException | LinkageError e) {
      // The first request meets it again, where it is handled.
      LOG.debug("Not all classes are loaded", e);
    }
    LOG.debug("Classes are loaded: number={} us={}", loaded, (System.nanoTime() - startNs) / 1_000);
  }

  static int load(Path file, String engine) throws IOException, ClassNotFoundException {
    int loaded = 0;
    try (JarFile jar = new JarFile(file.toFile())) {
      for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
        String name = entry.getName();
        if (isOfFetch(name, engine)) {
          String type = name.substring(0, name.length() - SUFFIX.length()).replace('/', '.');
          Class.forName(type, true, FetchClasses.class.getClassLoader());
          loaded++;
        }
      }
    }
    return loaded;
  }

  private static boolean isOfFetch(String entry, String engine) {
    if (!entry.startsWith(ROOT) || !entry.endsWith(SUFFIX)) {
      return false;
    }
    String folder = entry.substring(ROOT.length(), entry.lastIndexOf('/') + 1);
    return PACKAGES.contains(folder) || folder.equals("verbs/" + engine + "/");
  }
}
