// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;

/**
 * Loads the classes of the plug-in's jar again where SLF4J is missing, and SLF4J from a jar inside
 * of it. Spark brings SLF4J; {@code java -jar} alone does not. As plain classes of our jar they
 * could hide those of Spark.
 */
final class ToolLoader extends URLClassLoader {
  private static final String LOGGING = "META-INF/tools/slf4j-api.jar";
  private static final String CLASS = ".class";

  static {
    registerAsParallelCapable();
  }

  private final Map<String, byte[]> classes;

  private ToolLoader(URL jar, Map<String, byte[]> classes) {
    super(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
    this.classes = Map.copyOf(classes);
  }

  /** The loader of this class if it finds SLF4J, else a new one. It stays open until the end. */
  static ClassLoader create() throws IOException {
    ClassLoader own = ToolLoader.class.getClassLoader();
    try {
      Class.forName("org.slf4j.LoggerFactory", false, own);
      return own;
    } catch (ClassNotFoundException e) {
      // Otherwise SLF4J reports on every run that it has no log to write to.
      System.setProperty("slf4j.internal.verbosity", "ERROR");
      URL jar = ToolLoader.class.getProtectionDomain().getCodeSource().getLocation();
      return new ToolLoader(jar, classes(own));
    }
  }

  private static Map<String, byte[]> classes(ClassLoader own) throws IOException {
    Map<String, byte[]> classes = new HashMap<>();
    try (InputStream nested = own.getResourceAsStream(LOGGING)) {
      if (nested == null) {
        throw new IOException("not in this jar: " + LOGGING);
      }
      try (JarInputStream jar = new JarInputStream(nested)) {
        for (JarEntry entry = jar.getNextJarEntry(); entry != null; entry = jar.getNextJarEntry()) {
          if (entry.getName().endsWith(CLASS)) {
            classes.put(entry.getName(), jar.readAllBytes());
          }
        }
      }
    }
    return classes;
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] bytes = classes.get(name.replace('.', '/') + CLASS);
    return bytes == null ? super.findClass(name) : defineClass(name, bytes, 0, bytes.length);
  }
}
